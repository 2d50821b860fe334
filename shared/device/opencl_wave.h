/* Exchange between the work-items of a wave, in OpenCL C: permutes, ballots, reductions and scans. A part of opencl.h;
 * for semantics and instructions see wave.hpp and wave_reduce.hpp, the C++ versions. Types: int, uint, long, ulong,
 * float, double. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_WAVE_H
#define HSADRV_SHARED_DEVICE_OPENCL_WAVE_H

#include "wavefront_size.h"

HSADRV_OPENCL uint get_lane_id(void) {
    const uint low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return HSADRV_WAVEFRONT_SIZE == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}

/* detail::distinct() of wave.hpp. */
HSADRV_OPENCL int hsadrv_distinct(int dword) {
#if __clang_major__ < 17 && defined(__OPTIMIZE__)
    __attribute__((nomerge)) { __asm volatile("" : "+v"(dword)); }
#endif
    return dword;
}

#if __clang_major__ < 17 && defined(__OPTIMIZE__)
#define HSADRV_DISTINCT_SCALAR(value) \
    __attribute__((nomerge)) { __asm volatile("" : "+s"(value)); }
#else
#define HSADRV_DISTINCT_SCALAR(value)
#endif

HSADRV_OPENCL ulong wave_ballot(bool condition) {
#if __clang_major__ < 17 && defined(__OPTIMIZE__)
    condition = hsadrv_distinct(condition) != 0;
#endif
#if HSADRV_WAVEFRONT_SIZE == 64
    ulong mask = __builtin_amdgcn_ballot_w64(condition);
#else
    uint mask = __builtin_amdgcn_ballot_w32(condition);
#endif
    HSADRV_DISTINCT_SCALAR(mask)
    return mask;
}
HSADRV_OPENCL ulong wave_active_lanes(void) { return wave_ballot(true); }
HSADRV_OPENCL bool wave_any(bool condition) { return wave_ballot(condition) != 0; }
HSADRV_OPENCL bool wave_all(bool condition) { return wave_ballot(!condition) == 0; }

/* Lane `lane`'s value, in all lanes; `lane` is uniform. */
HSADRV_OPENCL int read_lane(int value, uint lane) {
    int read = __builtin_amdgcn_readlane(hsadrv_distinct(value), (int)lane);
    HSADRV_DISTINCT_SCALAR(read)
    return read;
}
HSADRV_OPENCL int read_first_lane(int value) {
    int first = __builtin_amdgcn_readfirstlane(hsadrv_distinct(value));
    HSADRV_DISTINCT_SCALAR(first)
    return first;
}
HSADRV_OPENCL int ds_permute(uint to, int value) {
#if HSADRV_WAVE_OF_HALVES
    int received = 0;
    for (ulong lanes = wave_active_lanes(); lanes != 0; lanes &= lanes - 1) {
        const uint lane = __builtin_ctzl(lanes);
        const int sent = read_lane(value, lane);
        if ((uint)read_lane((int)to, lane) % HSADRV_WAVEFRONT_SIZE == get_lane_id()) received = sent;
    }
    return received;
#else
    return hsadrv_distinct(__builtin_amdgcn_ds_permute((int)(to * 4), hsadrv_distinct(value)));
#endif
}
HSADRV_OPENCL int ds_bpermute(uint from, int value) {
#if HSADRV_WAVE_OF_HALVES
    int received = 0;
    for (ulong lanes = wave_active_lanes(); lanes != 0; lanes &= lanes - 1) {
        const uint lane = __builtin_ctzl(lanes);
        const int held = read_lane(value, lane);
        if (from % HSADRV_WAVEFRONT_SIZE == lane) received = held;
    }
    return received;
#else
    return hsadrv_distinct(__builtin_amdgcn_ds_bpermute((int)(from * 4), hsadrv_distinct(value)));
#endif
}

/* The same for the other types, by their bits; 8 bytes in two halves. */
#define HSADRV_LIKE_INT(type)                                                                                 \
    HSADRV_OPENCL type read_lane(type value, uint lane) { return as_##type(read_lane(as_int(value), lane)); } \
    HSADRV_OPENCL type read_first_lane(type value) { return as_##type(read_first_lane(as_int(value))); }      \
    HSADRV_OPENCL type ds_permute(uint to, type value) { return as_##type(ds_permute(to, as_int(value))); }   \
    HSADRV_OPENCL type ds_bpermute(uint from, type value) { return as_##type(ds_bpermute(from, as_int(value))); }
#define HSADRV_LIKE_TWO_INTS(type)                                                          \
    HSADRV_OPENCL type read_lane(type value, uint lane) {                                   \
        const int2 halves = as_int2(value);                                                 \
        return as_##type((int2)(read_lane(halves.x, lane), read_lane(halves.y, lane)));     \
    }                                                                                       \
    HSADRV_OPENCL type read_first_lane(type value) {                                        \
        const int2 halves = as_int2(value);                                                 \
        return as_##type((int2)(read_first_lane(halves.x), read_first_lane(halves.y)));     \
    }                                                                                       \
    HSADRV_OPENCL type ds_permute(uint to, type value) {                                    \
        const int2 halves = as_int2(value);                                                 \
        return as_##type((int2)(ds_permute(to, halves.x), ds_permute(to, halves.y)));       \
    }                                                                                       \
    HSADRV_OPENCL type ds_bpermute(uint from, type value) {                                 \
        const int2 halves = as_int2(value);                                                 \
        return as_##type((int2)(ds_bpermute(from, halves.x), ds_bpermute(from, halves.y))); \
    }
HSADRV_LIKE_INT(uint)
HSADRV_LIKE_INT(float)
HSADRV_LIKE_TWO_INTS(long)
HSADRV_LIKE_TWO_INTS(ulong)
HSADRV_LIKE_TWO_INTS(double)
#undef HSADRV_LIKE_INT
#undef HSADRV_LIKE_TWO_INTS

#define HSADRV_ACTIVELANEPERMUTE(type)                                                                        \
    HSADRV_OPENCL type activelanepermute_wavewidth(type value, uint from, type identity, bool use_identity) { \
        const type received = ds_bpermute(from, value);                                                       \
        return use_identity ? identity : received;                                                            \
    }
HSADRV_ACTIVELANEPERMUTE(int)
HSADRV_ACTIVELANEPERMUTE(uint)
HSADRV_ACTIVELANEPERMUTE(float)
HSADRV_ACTIVELANEPERMUTE(long)
HSADRV_ACTIVELANEPERMUTE(ulong)
HSADRV_ACTIVELANEPERMUTE(double)
#undef HSADRV_ACTIVELANEPERMUTE

#endif
