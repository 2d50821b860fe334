// Communication between the lanes of a wave: instructions on the device, on the host a model over all lanes.
//
//     EXCHANGE(0, v3, v1, true, swizzle<0x401f>())       // in a PROGRAM: v3 of each work-item, from v1 of others
//
// Source: "Vega" ISA, chapter 12.13 (DPP controls in 13.3.9, DS_SWIZZLE_B32, DS_PERMUTE_B32, DS_BPERMUTE_B32 in 12.13).
#pragma once

#include "integers.hpp"

// Of a wave, and among how many beside each other DS_BPERMUTE moves values: the device's, which both sides are told.
#ifndef WAVE_LANES
#define WAVE_LANES 64
#endif
#ifndef PERMUTED_LANES
#define PERMUTED_LANES WAVE_LANES
#endif

/// GFX10 has neither shifts of a wave nor broadcasts of a row's last lane: mirrors are in their place.
constexpr u32 dpp_control(u32 control) {
#ifdef NO_WAVE_SHIFTS
    const bool lacks = (control & 0x1f0) == 0x130 || control == 0x142 || control == 0x143;
    return lacks ? 0x140 | (control & 1) : control;
#else
    return control;
#endif
}

#if ON_DEVICE

/// In one work-item.
struct Lanes {
    u32 own;  ///< this lane's value
    u32 old;  ///< its result without a sender

    template <u32 pattern>
    __attribute__((always_inline)) u32 swizzle() const {
        return u32(__builtin_amdgcn_ds_swizzle(int(own), pattern));
    }
    template <u32 control, u32 rows, u32 banks, bool zero>
    __attribute__((always_inline)) u32 dpp() const {
        return u32(__builtin_amdgcn_update_dpp(int(old), int(own), dpp_control(control), rows, banks, zero));
    }
    /// To clang 22, what a lane gets that is not here is undefined: of the same index, or value, in all lanes it makes
    /// another instruction. So it does not know them.
    __attribute__((always_inline)) u32 from(u32 lane) const {
        return u32(__builtin_amdgcn_ds_bpermute(int(unknown(lane) << 2), int(unknown(own))));
    }
    __attribute__((always_inline)) u32 first() const { return u32(__builtin_amdgcn_readfirstlane(int(own))); }
    __attribute__((always_inline)) u32 votes() const {
        const u64 mask = __builtin_amdgcn_uicmp(own & 1, 0u, 33);
        return u32(mask) ^ u32(mask >> 32);
    }
    __attribute__((always_inline)) u32 before() const {
        const u64 mask = __builtin_amdgcn_uicmp(own & 1, 0u, 33);
        return __builtin_amdgcn_mbcnt_hi(u32(mask >> 32), __builtin_amdgcn_mbcnt_lo(u32(mask), own));
    }
};

#else

/// All of a work-group, seen from one work-item.
struct Lanes {
    const u32* told;      ///< by each work-item
    const bool* running;  ///< which of them are here
    u32 count;            ///< work-items of the group
    u32 own_id;
    u32 old;

    u32 own() const { return told[own_id]; }
    u32 lane() const { return own_id % WAVE_LANES; }
    u32 first_id() const { return own_id - lane(); }
    bool has(u32 lane) const { return first_id() + lane < count && running[first_id() + lane]; }
    u32 of(u32 lane) const { return has(lane) ? told[first_id() + lane] : 0; }

    template <u32 pattern>
    u32 swizzle() const {
        if constexpr ((pattern & 0x8000) != 0) return of((lane() & ~3u) | (pattern >> 2 * (lane() & 3) & 3));
        const u32 within = (((lane() & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
        return of((lane() & 32) | within);
    }
    /// The lane that a DPP control reads; 64 and more: none.
    static u32 dpp_source(u32 control, u32 lane) {
        const u32 row = lane & ~15u, n = lane & 15, by = control & 15;
        if (control < 0x100) return (lane & ~3u) | (control >> 2 * (lane & 3) & 3);
        if (control < 0x110) return n + by < 16 ? row + n + by : 64;
        if (control < 0x120) return n >= by ? row + n - by : 64;
        if (control < 0x130) return row + ((n - by) & 15);
        switch (control) {
            case 0x130:
                return lane + 1;
            case 0x134:
                return (lane + 1) & 63;
            case 0x138:
                return lane - 1;
            case 0x13c:
                return (lane - 1) & 63;
            case 0x140:
                return row + 15 - n;
            case 0x141:
                return (lane & ~7u) + 7 - (lane & 7);
            case 0x142:
                return row == 0 ? 64 : row - 1;
            default:
                return lane < 32 ? 64 : 31;
        }
    }
    template <u32 control, u32 rows, u32 banks, bool zero>
    u32 dpp() const {
        if ((rows >> lane() / 16 & 1) == 0 || (banks >> lane() % 16 / 4 & 1) == 0) return old;
        const u32 source = dpp_source(dpp_control(control), lane());
        if (source < WAVE_LANES && has(source)) return of(source);
        return zero ? 0 : old;
    }
    u32 from(u32 lane) const {
        const u32 among = PERMUTED_LANES - 1;
        return of((this->lane() & ~among) | (lane & among));
    }
    u32 first() const {
        u32 lane = 0;
        while (!has(lane)) ++lane;
        return of(lane);
    }
    u64 ballot() const {
        u64 mask = 0;
        for (u32 lane = 0; lane < WAVE_LANES; ++lane) mask |= u64(of(lane) & 1) << lane;
        return mask;
    }
    u32 votes() const { return u32(ballot()) ^ u32(ballot() >> 32); }
    u32 before() const { return own() + u32(__builtin_popcountl(ballot() & ((u64(1) << lane()) - 1))); }
};

#endif
