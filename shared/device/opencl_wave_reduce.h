/* Reductions and scans over the active lanes of a wave, in OpenCL C. A part of opencl.h; how they work is told in
 * wave_reduce.hpp, its twin for C++. Types: int, uint, long, ulong, float, double; and, or, xor of the integers. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_WAVE_REDUCE_H
#define HSADRV_SHARED_DEVICE_OPENCL_WAVE_REDUCE_H

/* One DPP move for each type: the value of the lane that the control names, or `missing`. */
#define HSADRV_DPP_LIKE_INT(name, type)                                \
    HSADRV_OPENCL type name(type missing, type value) {                \
        return as_##type(name(as_int(missing), as_int(value)));        \
    }
#define HSADRV_DPP_LIKE_TWO_INTS(name, type)                                           \
    HSADRV_OPENCL type name(type missing, type value) {                                \
        const int2 m = as_int2(missing), v = as_int2(value);                           \
        return as_##type((int2)(name(m.x, v.x), name(m.y, v.y)));                      \
    }
#define HSADRV_DPP(name, control, row_mask)                                                         \
    HSADRV_OPENCL int name(int missing, int value) {                                                \
        return __builtin_amdgcn_update_dpp(missing, value, control, row_mask, 0xf, false);          \
    }                                                                                               \
    HSADRV_DPP_LIKE_INT(name, uint)                                                                 \
    HSADRV_DPP_LIKE_INT(name, float)                                                                \
    HSADRV_DPP_LIKE_TWO_INTS(name, long)                                                            \
    HSADRV_DPP_LIKE_TWO_INTS(name, ulong)                                                           \
    HSADRV_DPP_LIKE_TWO_INTS(name, double)

HSADRV_DPP(hsadrv_row_shr1, 0x111, 0xf)
HSADRV_DPP(hsadrv_row_shr2, 0x112, 0xf)
HSADRV_DPP(hsadrv_row_shr4, 0x114, 0xf)
HSADRV_DPP(hsadrv_row_shr8, 0x118, 0xf)
#if defined(__GFX8__) || defined(__GFX9__)
HSADRV_DPP(hsadrv_row_bcast15, 0x142, 0xa)
HSADRV_DPP(hsadrv_row_bcast31, 0x143, 0xc)
#define HSADRV_ACROSS_ROWS(type, combine)                          \
    value = combine(hsadrv_row_bcast15(nothing, value), value);    \
    value = combine(hsadrv_row_bcast31(nothing, value), value);
#else
#define HSADRV_ACROSS_ROWS(type, combine)                                      \
    for (uint next = 1; next < HSADRV_WAVEFRONT_SIZE / 16; ++next) {           \
        const type last = read_lane(value, next * 16 - 1);                     \
        const type below = get_lane_id() / 16 == next ? last : nothing;        \
        value = combine(below, value);                                         \
    }
#endif
#undef HSADRV_DPP
#undef HSADRV_DPP_LIKE_TWO_INTS
#undef HSADRV_DPP_LIKE_INT

HSADRV_OPENCL bool hsadrv_full_wave(void) {
    return wave_active_lanes() == (HSADRV_WAVEFRONT_SIZE == 64 ? ~0ul : 0xfffffffful);
}

#define HSADRV_SCANS(type, operation, identity, combine)                                               \
    HSADRV_OPENCL type hsadrv_scan_full_wave_##operation(type value) {                                 \
        const type nothing = identity;                                                                 \
        value = combine(hsadrv_row_shr1(nothing, value), value);                                       \
        value = combine(hsadrv_row_shr2(nothing, value), value);                                       \
        value = combine(hsadrv_row_shr4(nothing, value), value);                                       \
        value = combine(hsadrv_row_shr8(nothing, value), value);                                       \
        HSADRV_ACROSS_ROWS(type, combine)                                                              \
        return value;                                                                                  \
    }                                                                                                  \
    /* Lane after lane; `exclusive`: without the lane's own. *total: of all. */                        \
    HSADRV_OPENCL type hsadrv_scan_lanes_##operation(type value, bool exclusive, type* total) {        \
        type result = identity, sum = identity;                                                        \
        for (ulong lanes = wave_active_lanes(); lanes != 0; lanes &= lanes - 1) {                      \
            const uint lane = __builtin_ctzl(lanes);                                                   \
            const type before = sum, own = read_lane(value, lane);                                     \
            sum = combine(sum, own);                                                                   \
            if (lane == get_lane_id()) result = exclusive ? before : sum;                              \
        }                                                                                              \
        *total = sum;                                                                                  \
        return result;                                                                                 \
    }                                                                                                  \
    HSADRV_OPENCL type wave_reduce_##operation(type value) {                                           \
        type total;                                                                                    \
        if (hsadrv_full_wave()) {                                                                      \
            return read_lane(hsadrv_scan_full_wave_##operation(value), HSADRV_WAVEFRONT_SIZE - 1);     \
        }                                                                                              \
        hsadrv_scan_lanes_##operation(value, false, &total);                                           \
        return total;                                                                                  \
    }                                                                                                  \
    HSADRV_OPENCL type wave_inclusive_scan_##operation(type value) {                                   \
        type total;                                                                                    \
        if (hsadrv_full_wave()) return hsadrv_scan_full_wave_##operation(value);                       \
        return hsadrv_scan_lanes_##operation(value, false, &total);                                    \
    }                                                                                                  \
    HSADRV_OPENCL type wave_exclusive_scan_##operation(type value) {                                   \
        type total;                                                                                    \
        if (!hsadrv_full_wave()) return hsadrv_scan_lanes_##operation(value, true, &total);            \
        const type below = ds_bpermute(get_lane_id() - 1, hsadrv_scan_full_wave_##operation(value));   \
        return get_lane_id() == 0 ? identity : below;                                                  \
    }

#define HSADRV_ADD(a, b) ((a) + (b))
#define HSADRV_LEAST(a, b) hsadrv_least(a, b)
#define HSADRV_GREATEST(a, b) hsadrv_greatest(a, b)
#define HSADRV_AND(a, b) ((a) & (b))
#define HSADRV_OR(a, b) ((a) | (b))
#define HSADRV_XOR(a, b) ((a) ^ (b))
#define HSADRV_ORDERED_SCANS(type, lowest, highest)                                  \
    HSADRV_OPENCL type hsadrv_least(type a, type b) { return b < a ? b : a; }        \
    HSADRV_OPENCL type hsadrv_greatest(type a, type b) { return a < b ? b : a; }     \
    HSADRV_SCANS(type, add, 0, HSADRV_ADD)                                           \
    HSADRV_SCANS(type, min, highest, HSADRV_LEAST)                                   \
    HSADRV_SCANS(type, max, lowest, HSADRV_GREATEST)
#define HSADRV_INTEGER_SCANS(type, lowest, highest)      \
    HSADRV_ORDERED_SCANS(type, lowest, highest)          \
    HSADRV_SCANS(type, and, (type)~0ul, HSADRV_AND)      \
    HSADRV_SCANS(type, or, 0, HSADRV_OR)                 \
    HSADRV_SCANS(type, xor, 0, HSADRV_XOR)

HSADRV_INTEGER_SCANS(int, INT_MIN, INT_MAX)
HSADRV_INTEGER_SCANS(uint, 0, UINT_MAX)
HSADRV_INTEGER_SCANS(long, LONG_MIN, LONG_MAX)
HSADRV_INTEGER_SCANS(ulong, 0, ULONG_MAX)
HSADRV_ORDERED_SCANS(float, -INFINITY, INFINITY)
HSADRV_ORDERED_SCANS(double, -INFINITY, INFINITY)

#undef HSADRV_INTEGER_SCANS
#undef HSADRV_ORDERED_SCANS
#undef HSADRV_XOR
#undef HSADRV_OR
#undef HSADRV_AND
#undef HSADRV_GREATEST
#undef HSADRV_LEAST
#undef HSADRV_ADD
#undef HSADRV_SCANS
#undef HSADRV_ACROSS_ROWS

#endif
