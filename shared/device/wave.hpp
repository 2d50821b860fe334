// Exchange of values between the work-items of a wave through registers: no LDS, no barrier. A work-item's index in its
// wave is its lane; the lanes that execute a call are the active ones.
//
//     uint64_t lanes = hsadrv::wave_ballot(x > 0);                     // bit i: x > 0 in lane i
//     float left = hsadrv::ds_bpermute(hsadrv::get_lane_id() - 1, x);  // lane i - 1's value; in lane 0 the last lane's
//     float all = hsadrv::wave_reduce_add(x);                          // wave_reduce.hpp
//
// T: any trivially copyable type of 4 or 8 bytes; 8 bytes take two instructions of each kind. Waves have 64 lanes on
// GFX9 and 32 or 64 elsewhere (HSADRV_WAVEFRONT_SIZE). In waves of 64 from GFX10 on, the permute instructions reach
// half of the lanes, so a permute is a loop over the active lanes (v_readlane_b32). Do not call these functions between
// a loop's exit test and its break or return: clang moves the call after the loop, to all lanes that left (LLVM issue
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

/// Returns the value, opaque to the optimiser. LLVM 16 merges a ballot, a permute or a lane read with an equal one that
/// runs with other active lanes, judging by operands (EarlyCSE, SimplifyCFG's hoisting) or by uses (SimplifyCFG's
/// sinking). This makes both distinct.
HSADRV_CONVERGENT int distinct(int dword) {
#if __clang_major__ < 17 && defined(__OPTIMIZE__)
    [[clang::nomerge]] { asm volatile("" : "+v"(dword)); }
#endif
    return dword;
}
/// The same for a value that is uniform across lanes.
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

/// The active lanes (EXEC).
HSADRV_CONVERGENT uint64_t wave_active_lanes() { return wave_ballot(true); }
/// Whether the condition holds in any active lane, or in all of them.
HSADRV_CONVERGENT bool wave_any(bool condition) { return wave_ballot(condition) != 0; }
HSADRV_CONVERGENT bool wave_all(bool condition) { return wave_ballot(!condition) == 0; }

/// Lane `lane`'s value, in all lanes: v_readlane_b32. `lane` is uniform, less than wavefront_size, and may be inactive.
template <class T>
HSADRV_CONVERGENT T read_lane(T value, uint32_t lane) {
    return detail::by_dwords(value, [lane](int dword) HSADRV_LAMBDA {
        return detail::distinct_scalar(__builtin_amdgcn_readlane(dword, static_cast<int>(lane)));
    });
}

/// The first active lane's value, in all lanes: v_readfirstlane_b32.
template <class T>
HSADRV_CONVERGENT T read_first_lane(T value) {
    return detail::by_dwords(
        value, [](int dword) HSADRV_LAMBDA { return detail::distinct_scalar(__builtin_amdgcn_readfirstlane(dword)); });
}

/// Sends `value` to lane `to` modulo the wave's size: ds_permute_b32. Returns the value sent to this lane: 0 if there
/// is none, the highest lane's if there are several. Inactive lanes send nothing.
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

/// Returns the value of lane `from` modulo the wave's size: ds_bpermute_b32; 0 if that lane is inactive.
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

/// HSAIL's activelanepermute: lane `from`'s value, or `identity` if `use_identity` is set. Undefined if that lane is
/// inactive and the identity is not used.
template <class T>
HSADRV_CONVERGENT T activelanepermute_wavewidth(T value, uint32_t from, typename shared::detail::Same<T>::type identity,
                                                bool use_identity) {
    const T received = ds_bpermute(from, value);
    return use_identity ? identity : received;
}

}  // namespace hsadrv
