/* What the work-items of one wave tell one another, in OpenCL C: permutes, ballots, reductions and scans. A part of
 * opencl.h; what each becomes and means is told in wave.hpp and wave_reduce.hpp, its twins for C++. Types: int, uint,
 * long, ulong, float, double. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_WAVE_H
#define HSADRV_SHARED_DEVICE_OPENCL_WAVE_H

#include "wavefront_size.h"

HSADRV_OPENCL uint get_lane_id(void) {
    const uint low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return HSADRV_WAVEFRONT_SIZE == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}

HSADRV_OPENCL ulong wave_ballot(bool condition) {
#if HSADRV_WAVEFRONT_SIZE == 64
    return __builtin_amdgcn_ballot_w64(condition);
#else
    return __builtin_amdgcn_ballot_w32(condition);
#endif
}
HSADRV_OPENCL ulong wave_active_lanes(void) { return wave_ballot(true); }
HSADRV_OPENCL bool wave_any(bool condition) { return wave_ballot(condition) != 0; }
HSADRV_OPENCL bool wave_all(bool condition) { return wave_ballot(!condition) == 0; }

/* What `lane` holds, for all; `lane` is the same in all lanes. */
HSADRV_OPENCL int read_lane(int value, uint lane) { return __builtin_amdgcn_readlane(value, (int)lane); }
HSADRV_OPENCL int read_first_lane(int value) { return __builtin_amdgcn_readfirstlane(value); }
HSADRV_OPENCL int ds_permute(uint to, int value) { return __builtin_amdgcn_ds_permute((int)(to * 4), value); }
HSADRV_OPENCL int ds_bpermute(uint from, int value) { return __builtin_amdgcn_ds_bpermute((int)(from * 4), value); }

/* The same for the other types: by their bits, 8 bytes in two halves. */
#define HSADRV_LIKE_INT(type)                                                                                        \
    HSADRV_OPENCL type read_lane(type value, uint lane) { return as_##type(read_lane(as_int(value), lane)); }        \
    HSADRV_OPENCL type read_first_lane(type value) { return as_##type(read_first_lane(as_int(value))); }             \
    HSADRV_OPENCL type ds_permute(uint to, type value) { return as_##type(ds_permute(to, as_int(value))); }          \
    HSADRV_OPENCL type ds_bpermute(uint from, type value) { return as_##type(ds_bpermute(from, as_int(value))); }
#define HSADRV_LIKE_TWO_INTS(type)                                                                        \
    HSADRV_OPENCL type read_lane(type value, uint lane) {                                                 \
        const int2 halves = as_int2(value);                                                                \
        return as_##type((int2)(read_lane(halves.x, lane), read_lane(halves.y, lane)));                     \
    }                                                                                                     \
    HSADRV_OPENCL type read_first_lane(type value) {                                                      \
        const int2 halves = as_int2(value);                                                                \
        return as_##type((int2)(read_first_lane(halves.x), read_first_lane(halves.y)));                     \
    }                                                                                                     \
    HSADRV_OPENCL type ds_permute(uint to, type value) {                                                  \
        const int2 halves = as_int2(value);                                                                \
        return as_##type((int2)(ds_permute(to, halves.x), ds_permute(to, halves.y)));                       \
    }                                                                                                     \
    HSADRV_OPENCL type ds_bpermute(uint from, type value) {                                               \
        const int2 halves = as_int2(value);                                                                \
        return as_##type((int2)(ds_bpermute(from, halves.x), ds_bpermute(from, halves.y)));                 \
    }
HSADRV_LIKE_INT(uint)
HSADRV_LIKE_INT(float)
HSADRV_LIKE_TWO_INTS(long)
HSADRV_LIKE_TWO_INTS(ulong)
HSADRV_LIKE_TWO_INTS(double)
#undef HSADRV_LIKE_INT
#undef HSADRV_LIKE_TWO_INTS

#define HSADRV_ACTIVELANEPERMUTE(type)                                                                             \
    HSADRV_OPENCL type activelanepermute_wavewidth(type value, uint from, type identity, bool use_identity) {      \
        const type received = ds_bpermute(from, value);                                                            \
        return use_identity ? identity : received;                                                                 \
    }
HSADRV_ACTIVELANEPERMUTE(int)
HSADRV_ACTIVELANEPERMUTE(uint)
HSADRV_ACTIVELANEPERMUTE(float)
HSADRV_ACTIVELANEPERMUTE(long)
HSADRV_ACTIVELANEPERMUTE(ulong)
HSADRV_ACTIVELANEPERMUTE(double)
#undef HSADRV_ACTIVELANEPERMUTE

#endif
