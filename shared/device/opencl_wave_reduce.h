/* Reductions and scans over the active lanes of a wave, in OpenCL C. A part of opencl.h; for details see
 * wave_reduce.hpp, the C++ version. Types: int, uint, long, ulong, float, double; and, or, xor of the integers. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_WAVE_REDUCE_H
#define HSADRV_SHARED_DEVICE_OPENCL_WAVE_REDUCE_H

/* One DPP move for each type: the value of the lane that the control selects, or `missing`. */
#define HSADRV_DPP_LIKE_INT(name, type) \
    HSADRV_OPENCL type name(type missing, type value) { return as_##type(name(as_int(missing), as_int(value))); }
#define HSADRV_DPP_LIKE_TWO_INTS(name, type)                      \
    HSADRV_OPENCL type name(type missing, type value) {           \
        const int2 m = as_int2(missing), v = as_int2(value);      \
        return as_##type((int2)(name(m.x, v.x), name(m.y, v.y))); \
    }
#define HSADRV_DPP(name, control, row_mask)                                                               \
    HSADRV_OPENCL int name(int missing, int value) {                                                      \
        const int own = hsadrv_distinct(value);                                                           \
        return hsadrv_distinct(__builtin_amdgcn_update_dpp(missing, own, control, row_mask, 0xf, false)); \
    }                                                                                                     \
    HSADRV_DPP_LIKE_INT(name, uint)                                                                       \
    HSADRV_DPP_LIKE_INT(name, float)                                                                      \
    HSADRV_DPP_LIKE_TWO_INTS(name, long)                                                                  \
    HSADRV_DPP_LIKE_TWO_INTS(name, ulong)                                                                 \
    HSADRV_DPP_LIKE_TWO_INTS(name, double)

HSADRV_DPP(hsadrv_row_shr1, 0x111, 0xf)
HSADRV_DPP(hsadrv_row_shr2, 0x112, 0xf)
HSADRV_DPP(hsadrv_row_shr4, 0x114, 0xf)
HSADRV_DPP(hsadrv_row_shr8, 0x118, 0xf)
#if HSADRV_DPP_ACROSS_ROWS
HSADRV_DPP(hsadrv_wave_shr1, 0x138, 0xf)
HSADRV_DPP(hsadrv_row_bcast15, 0x142, 0xa)
HSADRV_DPP(hsadrv_row_bcast31, 0x143, 0xc)
#define HSADRV_ACROSS_ROWS(type, combine)                       \
    value = combine(hsadrv_row_bcast15(nothing, value), value); \
    value = combine(hsadrv_row_bcast31(nothing, value), value);
#define HSADRV_LANE_BELOW(type) const type below = hsadrv_wave_shr1(nothing, value);
#else
#define HSADRV_ACROSS_ROWS(type, combine)                               \
    for (uint next = 1; next < HSADRV_WAVEFRONT_SIZE / 16; ++next) {    \
        const type last = read_lane(value, next * 16 - 1);              \
        const type below = get_lane_id() / 16 == next ? last : nothing; \
        value = combine(below, value);                                  \
    }
#define HSADRV_LANE_BELOW(type)                                         \
    type below = hsadrv_row_shr1(nothing, value);                       \
    for (uint first = 16; first < HSADRV_WAVEFRONT_SIZE; first += 16) { \
        const type last = read_lane(value, first - 1);                  \
        if (get_lane_id() == first) below = last;                       \
    }
#endif
#undef HSADRV_DPP
#undef HSADRV_DPP_LIKE_TWO_INTS
#undef HSADRV_DPP_LIKE_INT

HSADRV_OPENCL bool hsadrv_full_wave(void) {
    return wave_active_lanes() == (HSADRV_WAVEFRONT_SIZE == 64 ? ~0ul : 0xfffffffful);
}

/* The identity replaces a NaN. */
#define HSADRV_BEFORE_add(nothing, value) value
#define HSADRV_BEFORE_min(nothing, value) HSADRV_LEAST(nothing, value)
#define HSADRV_BEFORE_max(nothing, value) HSADRV_GREATEST(nothing, value)
#define HSADRV_BEFORE_and(nothing, value) value
#define HSADRV_BEFORE_or(nothing, value) value
#define HSADRV_BEFORE_xor(nothing, value) value

#define HSADRV_SCANS(type, operation, identity, combine)                                           \
    HSADRV_OPENCL type hsadrv_scan_full_wave_##operation(type value) {                             \
        const type nothing = identity;                                                             \
        value = HSADRV_BEFORE_##operation(nothing, value);                                         \
        value = combine(hsadrv_row_shr1(nothing, value), value);                                   \
        value = combine(hsadrv_row_shr2(nothing, value), value);                                   \
        value = combine(hsadrv_row_shr4(nothing, value), value);                                   \
        value = combine(hsadrv_row_shr8(nothing, value), value);                                   \
        HSADRV_ACROSS_ROWS(type, combine)                                                          \
        return value;                                                                              \
    }                                                                                              \
    /* One lane at a time; `exclusive`: without the lane's own. *total: of all lanes. */           \
    HSADRV_OPENCL type hsadrv_scan_lanes_##operation(type value, bool exclusive, type* total) {    \
        type result = identity, sum = identity;                                                    \
        for (ulong lanes = wave_active_lanes(); lanes != 0; lanes &= lanes - 1) {                  \
            const uint lane = __builtin_ctzl(lanes);                                               \
            const type before = sum, own = read_lane(value, lane);                                 \
            sum = combine(sum, own);                                                               \
            if (lane == get_lane_id()) result = exclusive ? before : sum;                          \
        }                                                                                          \
        *total = sum;                                                                              \
        return result;                                                                             \
    }                                                                                              \
    HSADRV_OPENCL type wave_reduce_##operation(type value) {                                       \
        type total;                                                                                \
        if (hsadrv_full_wave()) {                                                                  \
            return read_lane(hsadrv_scan_full_wave_##operation(value), HSADRV_WAVEFRONT_SIZE - 1); \
        }                                                                                          \
        hsadrv_scan_lanes_##operation(value, false, &total);                                       \
        return total;                                                                              \
    }                                                                                              \
    HSADRV_OPENCL type wave_inclusive_scan_##operation(type value) {                               \
        type total;                                                                                \
        if (hsadrv_full_wave()) return hsadrv_scan_full_wave_##operation(value);                   \
        return hsadrv_scan_lanes_##operation(value, false, &total);                                \
    }                                                                                              \
    HSADRV_OPENCL type wave_exclusive_scan_##operation(type value) {                               \
        type total;                                                                                \
        if (!hsadrv_full_wave()) return hsadrv_scan_lanes_##operation(value, true, &total);        \
        const type nothing = identity;                                                             \
        value = hsadrv_scan_full_wave_##operation(value);                                          \
        HSADRV_LANE_BELOW(type)                                                                    \
        return below;                                                                              \
    }

/* Signed integers wrap, as unsigned ones do. */
HSADRV_OPENCL int hsadrv_sum(int a, int b) { return as_int(as_uint(a) + as_uint(b)); }
HSADRV_OPENCL uint hsadrv_sum(uint a, uint b) { return a + b; }
HSADRV_OPENCL long hsadrv_sum(long a, long b) { return as_long(as_ulong(a) + as_ulong(b)); }
HSADRV_OPENCL ulong hsadrv_sum(ulong a, ulong b) { return a + b; }
HSADRV_OPENCL float hsadrv_sum(float a, float b) { return a + b; }
HSADRV_OPENCL double hsadrv_sum(double a, double b) { return a + b; }

/* For a number and a NaN, the number. */
HSADRV_OPENCL float hsadrv_least(float a, float b) { return __builtin_fminf(a, b); }
HSADRV_OPENCL float hsadrv_greatest(float a, float b) { return __builtin_fmaxf(a, b); }
HSADRV_OPENCL double hsadrv_least(double a, double b) { return __builtin_fmin(a, b); }
HSADRV_OPENCL double hsadrv_greatest(double a, double b) { return __builtin_fmax(a, b); }

#define HSADRV_ADD(a, b) hsadrv_sum(a, b)
#define HSADRV_LEAST(a, b) hsadrv_least(a, b)
#define HSADRV_GREATEST(a, b) hsadrv_greatest(a, b)
#define HSADRV_AND(a, b) ((a) & (b))
#define HSADRV_OR(a, b) ((a) | (b))
#define HSADRV_XOR(a, b) ((a) ^ (b))
#define HSADRV_ORDERED_SCANS(type, lowest, highest) \
    HSADRV_SCANS(type, add, 0, HSADRV_ADD)          \
    HSADRV_SCANS(type, min, highest, HSADRV_LEAST)  \
    HSADRV_SCANS(type, max, lowest, HSADRV_GREATEST)
#define HSADRV_INTEGER_SCANS(type, lowest, highest)                              \
    HSADRV_OPENCL type hsadrv_least(type a, type b) { return b < a ? b : a; }    \
    HSADRV_OPENCL type hsadrv_greatest(type a, type b) { return a < b ? b : a; } \
    HSADRV_ORDERED_SCANS(type, lowest, highest)                                  \
    HSADRV_SCANS(type, and, (type)~0ul, HSADRV_AND)                              \
    HSADRV_SCANS(type, or, 0, HSADRV_OR)                                         \
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
#undef HSADRV_BEFORE_xor
#undef HSADRV_BEFORE_or
#undef HSADRV_BEFORE_and
#undef HSADRV_BEFORE_max
#undef HSADRV_BEFORE_min
#undef HSADRV_BEFORE_add
#undef HSADRV_LANE_BELOW
#undef HSADRV_ACROSS_ROWS

#endif
