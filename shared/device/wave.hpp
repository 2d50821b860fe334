// What the work-items of one wave tell one another through registers: no LDS, no barrier. A work-item's number in its
// wave is its lane; the lanes that run the call are the active ones.
//
//     uint64_t lanes = hsadrv::wave_ballot(x > 0);                     // bit i: lane i said yes
//     float left = hsadrv::ds_bpermute(hsadrv::get_lane_id() - 1, x);  // what lane i - 1 holds; lane 0: the last one's
//     float all = hsadrv::wave_reduce_add(x);                          // wave_reduce.hpp
//
// T: any trivially copyable type of 4 or 8 bytes; 8 bytes take two instructions of each kind. Waves have 64 lanes on
// GFX9 and 32 or 64 elsewhere (HSADRV_WAVEFRONT_SIZE). In waves of 64 from GFX10 on, where the permutes' instructions
// reach half of the lanes, a permute is a loop over the active lanes (v_readlane_b32). Between the test for leaving a
// loop and its break or return no call belongs: clang moves it behind the loop, to all lanes that left (LLVM issue
// 62477). Sources: ISA manuals, "Data Parallel Processing", "Local Data Share", and the HSA Programmer's Reference
// Manual, "Cross-Lane Operations".
#pragma once

#include "../lds_layout.hpp"
#include "kernel.hpp"
#include "wavefront_size.h"

namespace hsadrv {

inline constexpr uint32_t wavefront_size = HSADRV_WAVEFRONT_SIZE;

namespace detail {

template <uint32_t Bytes>
struct Dwords {
    static_assert(Bytes == 4 || Bytes == 8, "lanes exchange values of 4 or 8 bytes");
    int dword[Bytes / 4];
};

/// The value, by a name of its own. LLVM 16 takes a ballot, a permute or a read of a lane for an equal one that runs
/// where other lanes are active, by its operands (EarlyCSE, SimplifyCFG's hoisting) or by what becomes of it
/// (SimplifyCFG's sinking), so that there both are distinct.
HSADRV_CONVERGENT int distinct(int dword) {
#if __clang_major__ < 17 && defined(__OPTIMIZE__)
    [[clang::nomerge]] { asm volatile("" : "+v"(dword)); }
#endif
    return dword;
}
/// The same of a value that all lanes share.
template <class T>
HSADRV_CONVERGENT T distinct_scalar(T value) {
#if __clang_major__ < 17 && defined(__OPTIMIZE__)
    [[clang::nomerge]] { asm volatile("" : "+s"(value)); }
#endif
    return value;
}

/// Calls f for each dword of `value`: registers hold 4 bytes.
template <class T, class F>
HSADRV_CONVERGENT T by_dwords(T value, F f) {
    auto dwords = __builtin_bit_cast(Dwords<sizeof(T)>, value);
    for (int& dword : dwords.dword) dword = f(distinct(dword));
    return __builtin_bit_cast(T, dwords);
}

}  // namespace detail

/// This work-item's lane: v_mbcnt_lo_u32_b32, and _hi in waves of 64.
HSADRV_DEVICE uint32_t get_lane_id() {
    const uint32_t low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return wavefront_size == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}

/// Bit i: lane i is active and its `condition` holds (v_cmp into a scalar pair). In waves of 32 the upper half is 0.
HSADRV_CONVERGENT uint64_t wave_ballot(bool condition) {
#if __clang_major__ < 17 && defined(__OPTIMIZE__)
    condition = detail::distinct(condition) != 0;
#endif
#if HSADRV_WAVEFRONT_SIZE == 64
    return detail::distinct_scalar(__builtin_amdgcn_ballot_w64(condition));
#else
    return detail::distinct_scalar(__builtin_amdgcn_ballot_w32(condition));
#endif
}

/// The lanes that are active here (EXEC).
HSADRV_CONVERGENT uint64_t wave_active_lanes() { return wave_ballot(true); }
/// Whether the condition holds in any active lane, or in all of them.
HSADRV_CONVERGENT bool wave_any(bool condition) { return wave_ballot(condition) != 0; }
HSADRV_CONVERGENT bool wave_all(bool condition) { return wave_ballot(!condition) == 0; }

/// What `lane` holds, for all: v_readlane_b32. `lane` is the same in all lanes, less than wavefront_size and may be
/// inactive.
template <class T>
HSADRV_CONVERGENT T read_lane(T value, uint32_t lane) {
    return detail::by_dwords(value, [lane](int dword) HSADRV_LAMBDA {
        return detail::distinct_scalar(__builtin_amdgcn_readlane(dword, static_cast<int>(lane)));
    });
}

/// What the first active lane holds, for all: v_readfirstlane_b32.
template <class T>
HSADRV_CONVERGENT T read_first_lane(T value) {
    return detail::by_dwords(
        value, [](int dword) HSADRV_LAMBDA { return detail::distinct_scalar(__builtin_amdgcn_readfirstlane(dword)); });
}

/// Sends `value` to lane `to`, modulo the wave's size: ds_permute_b32. Returns what was sent here; 0 where nobody
/// sent, the highest lane's where several did. Inactive lanes send nothing.
template <class T>
HSADRV_CONVERGENT T ds_permute(uint32_t to, T value) {
#if HSADRV_WAVE_OF_HALVES
    T received = __builtin_bit_cast(T, detail::Dwords<sizeof(T)>{});
    for (uint64_t lanes = wave_active_lanes(); lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(lanes));
        const T sent = read_lane(value, lane);
        if (read_lane(to, lane) % wavefront_size == get_lane_id()) received = sent;
    }
    return received;
#else
    const int address = static_cast<int>(to * 4);
    return detail::by_dwords(value, [address](int dword) HSADRV_LAMBDA {
        return detail::distinct(__builtin_amdgcn_ds_permute(address, dword));
    });
#endif
}

/// Returns what lane `from`, modulo the wave's size, holds: ds_bpermute_b32; 0 where that lane is inactive.
template <class T>
HSADRV_CONVERGENT T ds_bpermute(uint32_t from, T value) {
#if HSADRV_WAVE_OF_HALVES
    T received = __builtin_bit_cast(T, detail::Dwords<sizeof(T)>{});
    for (uint64_t lanes = wave_active_lanes(); lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(lanes));
        const T held = read_lane(value, lane);
        if (from % wavefront_size == lane) received = held;
    }
    return received;
#else
    const int address = static_cast<int>(from * 4);
    return detail::by_dwords(value, [address](int dword) HSADRV_LAMBDA {
        return detail::distinct(__builtin_amdgcn_ds_bpermute(address, dword));
    });
#endif
}

/// HSAIL's activelanepermute: what lane `from` holds, or `identity` where `use_identity` is set. Undefined where that
/// lane is not active and the identity is not used.
template <class T>
HSADRV_CONVERGENT T activelanepermute_wavewidth(T value, uint32_t from, typename shared::detail::Same<T>::type identity,
                                                bool use_identity) {
    const T received = ds_bpermute(from, value);
    return use_identity ? identity : received;
}

}  // namespace hsadrv
