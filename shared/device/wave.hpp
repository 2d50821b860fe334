// What the work-items of one wave tell one another through registers: no LDS, no barrier. A work-item's number in its
// wave is its lane; the lanes that run the call are the active ones.
//
//     uint64_t lanes = hsadrv::wave_ballot(x > 0);                     // bit i: lane i said yes
//     float left = hsadrv::ds_bpermute(hsadrv::get_lane_id() - 1, x);  // what lane i - 1 holds; lane 0: the last one's
//     float all = hsadrv::wave_reduce_add(x);                          // wave_reduce.hpp
//
// T: any trivially copyable type of 4 or 8 bytes; 8 bytes take two instructions of each kind. Waves have 64 lanes on
// GFX9 and 32 or 64 elsewhere (HSADRV_WAVEFRONT_SIZE). Sources: ISA manuals, "Data Parallel Processing", "Local Data
// Share", and the HSA Programmer's Reference Manual, "Cross-Lane Operations".
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

/// Calls f for each dword of `value`: registers hold 4 bytes.
template <class T, class F>
HSADRV_DEVICE T by_dwords(T value, F f) {
    auto dwords = __builtin_bit_cast(Dwords<sizeof(T)>, value);
    for (int& dword : dwords.dword) dword = f(dword);
    return __builtin_bit_cast(T, dwords);
}

}  // namespace detail

/// This work-item's lane: v_mbcnt_lo_u32_b32, and _hi in waves of 64.
HSADRV_DEVICE uint32_t get_lane_id() {
    const uint32_t low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return wavefront_size == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}

/// Bit i: lane i is active and its `condition` holds (v_cmp into a scalar pair). In waves of 32 the upper half is 0.
HSADRV_DEVICE uint64_t wave_ballot(bool condition) {
#if HSADRV_WAVEFRONT_SIZE == 64
    return __builtin_amdgcn_ballot_w64(condition);
#else
    return __builtin_amdgcn_ballot_w32(condition);
#endif
}

/// The lanes that are active here (EXEC).
HSADRV_DEVICE uint64_t wave_active_lanes() { return wave_ballot(true); }
/// Whether the condition holds in any active lane, or in all of them.
HSADRV_DEVICE bool wave_any(bool condition) { return wave_ballot(condition) != 0; }
HSADRV_DEVICE bool wave_all(bool condition) { return wave_ballot(!condition) == 0; }

/// What `lane` holds, for all: v_readlane_b32. `lane` is the same in all lanes, less than wavefront_size and may be
/// inactive.
template <class T>
HSADRV_DEVICE T read_lane(T value, uint32_t lane) {
    return detail::by_dwords(value, [lane](int dword) HSADRV_LAMBDA {
        return __builtin_amdgcn_readlane(dword, static_cast<int>(lane));
    });
}

/// What the first active lane holds, for all: v_readfirstlane_b32.
template <class T>
HSADRV_DEVICE T read_first_lane(T value) {
    return detail::by_dwords(value,
                             [](int dword) HSADRV_LAMBDA { return __builtin_amdgcn_readfirstlane(dword); });
}

/// Sends `value` to lane `to`, modulo the wave's size: ds_permute_b32. Returns what was sent here; 0 where nobody
/// sent, the highest lane's where several did. Inactive lanes send nothing.
template <class T>
HSADRV_DEVICE T ds_permute(uint32_t to, T value) {
    const int address = static_cast<int>(to * 4);
    return detail::by_dwords(
        value, [address](int dword) HSADRV_LAMBDA { return __builtin_amdgcn_ds_permute(address, dword); });
}

/// Returns what lane `from`, modulo the wave's size, holds: ds_bpermute_b32; 0 where that lane is inactive.
template <class T>
HSADRV_DEVICE T ds_bpermute(uint32_t from, T value) {
    const int address = static_cast<int>(from * 4);
    return detail::by_dwords(
        value, [address](int dword) HSADRV_LAMBDA { return __builtin_amdgcn_ds_bpermute(address, dword); });
}

/// HSAIL's activelanepermute: what lane `from` holds, or `identity` where `use_identity` is set. Undefined where that
/// lane is not active and the identity is not used.
template <class T>
HSADRV_DEVICE T activelanepermute_wavewidth(T value, uint32_t from,
                                            typename shared::detail::Same<T>::type identity,
                                            bool use_identity) {
    const T received = ds_bpermute(from, value);
    return use_identity ? identity : received;
}

}  // namespace hsadrv
