// Reductions and scans over the lanes of a wave, through registers only.
//
//     float sum = hsadrv::wave_reduce_add(x);                        // over the active lanes, the same in each
//     uint32_t before = hsadrv::wave_exclusive_scan_add(matches);    // offset of this work-item's results
//
// Only active lanes take part. If all are active, a reduction takes log2(lanes) steps of DPP (row_shr, and row_bcast on
// GFX9; v_readlane between rows elsewhere; an exclusive scan takes one more); otherwise one v_readlane per active lane.
// T: integers, float and double of 4 and 8 bytes. The order of floating-point additions is unspecified and differs
// between the two cases, but is the same in each run. Sums of signed integers wrap. Minima and maxima ignore NaN; if
// all values are NaN, the result is the identity, infinity or -infinity. It is unspecified which of -0 and 0 is less. A
// sum with a NaN is NaN.
#pragma once

#include "wave.hpp"

namespace hsadrv {

namespace detail {

template <class T>
struct Limits {
    static constexpr bool is_signed = T(-1) < T(0);
    static constexpr T lowest = is_signed ? T(1) << (sizeof(T) * 8 - 1) : T(0);
    static constexpr T highest = static_cast<T>(~lowest);
};
template <>
struct Limits<float> {
    static constexpr float highest = __builtin_inff(), lowest = -highest;
};
template <>
struct Limits<double> {
    static constexpr double highest = __builtin_inf(), lowest = -highest;
};

/// Signed integers wrap, as unsigned ones do.
template <class T>
HSADRV_DEVICE T wrapping_sum(T a, T b) {
    if constexpr (shared::detail::is_integer<T> && sizeof(T) == 4)
        return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    else if constexpr (shared::detail::is_integer<T>)
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
        return a + b;
}

/// For a number and a NaN, the number (IEEE 754-2008, minNum and maxNum), wherever the NaN is.
HSADRV_DEVICE float least(float a, float b) { return __builtin_fminf(a, b); }
HSADRV_DEVICE float greatest(float a, float b) { return __builtin_fmaxf(a, b); }
HSADRV_DEVICE double least(double a, double b) { return __builtin_fmin(a, b); }
HSADRV_DEVICE double greatest(double a, double b) { return __builtin_fmax(a, b); }
template <class T>
HSADRV_DEVICE T least(T a, T b) {
    return b < a ? b : a;
}
template <class T>
HSADRV_DEVICE T greatest(T a, T b) {
    return a < b ? b : a;
}

/// A reduction's operation on two values, and its identity.
#define HSADRV_WAVE_OPERATION(name, nothing, combined) \
    struct name {                                      \
        template <class T>                             \
        HSADRV_DEVICE static T identity() {            \
            return nothing;                            \
        }                                              \
        template <class T>                             \
        HSADRV_DEVICE static T apply(T a, T b) {       \
            return combined;                           \
        }                                              \
    };
HSADRV_WAVE_OPERATION(WaveAdd, T(0), wrapping_sum(a, b))
HSADRV_WAVE_OPERATION(WaveMin, Limits<T>::highest, least(a, b))
HSADRV_WAVE_OPERATION(WaveMax, Limits<T>::lowest, greatest(a, b))
HSADRV_WAVE_OPERATION(WaveAnd, static_cast<T>(~T(0)), (a & b))
HSADRV_WAVE_OPERATION(WaveOr, T(0), a | b)
HSADRV_WAVE_OPERATION(WaveXor, T(0), a ^ b)
#undef HSADRV_WAVE_OPERATION

/// True if the operation replaces a NaN by the identity.
template <class Operation>
inline constexpr bool passes_over_nan = false;
template <>
inline constexpr bool passes_over_nan<WaveMin> = true;
template <>
inline constexpr bool passes_over_nan<WaveMax> = true;

// DPP controls (ISA manuals, "DPP_CTRL"): lanes are rows of 16.
inline constexpr int dpp_row_shr = 0x110;      // + n: from n lanes below, in the same row
inline constexpr int dpp_wave_shr1 = 0x138;    // from the lane below
inline constexpr int dpp_row_bcast15 = 0x142;  // from a row's last lane to the next row
inline constexpr int dpp_row_bcast31 = 0x143;  // from lane 31 to the rows above

/// The value of the lane that the control selects, or `missing` if there is none or the row is masked out.
template <int Control, int RowMask, class T>
HSADRV_CONVERGENT T dpp(T missing, T value) {
    using Bits = Dwords<sizeof(T)>;
    const Bits from = __builtin_bit_cast(Bits, value);
    const Bits instead = __builtin_bit_cast(Bits, missing);
    Bits result;
    for (uint32_t i = 0; i < sizeof(T) / 4; ++i) {
        result.dword[i] = distinct(
            __builtin_amdgcn_update_dpp(instead.dword[i], distinct(from.dword[i]), Control, RowMask, 0xf, false));
    }
    return __builtin_bit_cast(T, result);
}

template <class Operation, class T>
HSADRV_CONVERGENT T scan_full_wave(T value) {
    const T nothing = Operation::template identity<T>();
    if constexpr (passes_over_nan<Operation>) value = Operation::apply(nothing, value);
    value = Operation::apply(dpp<dpp_row_shr + 1, 0xf>(nothing, value), value);
    value = Operation::apply(dpp<dpp_row_shr + 2, 0xf>(nothing, value), value);
    value = Operation::apply(dpp<dpp_row_shr + 4, 0xf>(nothing, value), value);
    value = Operation::apply(dpp<dpp_row_shr + 8, 0xf>(nothing, value), value);
#if HSADRV_DPP_ACROSS_ROWS
    value = Operation::apply(dpp<dpp_row_bcast15, 0xa>(nothing, value), value);
    value = Operation::apply(dpp<dpp_row_bcast31, 0xc>(nothing, value), value);
#else
    const uint32_t row = get_lane_id() / 16;
    for (uint32_t next = 1; next < wavefront_size / 16; ++next) {
        const T below = read_lane(value, next * 16 - 1);
        value = Operation::apply(row == next ? below : nothing, value);
    }
#endif
    return value;
}

/// The value of the lane below in a full wave; in the first lane, `nothing`.
template <class T>
HSADRV_CONVERGENT T lane_below(T nothing, T value) {
#if HSADRV_DPP_ACROSS_ROWS
    return dpp<dpp_wave_shr1, 0xf>(nothing, value);
#else
    T below = dpp<dpp_row_shr + 1, 0xf>(nothing, value);
    for (uint32_t first = 16; first < wavefront_size; first += 16) {
        const T last = read_lane(value, first - 1);
        if (get_lane_id() == first) below = last;
    }
    return below;
#endif
}

/// One lane at a time; `exclusive`: a lane's result excludes its own value.
template <class Operation, class T>
HSADRV_CONVERGENT T scan_active_lanes(T value, uint64_t lanes, bool exclusive, T& total) {
    T result = Operation::template identity<T>(), sum = result;
    const uint32_t own = get_lane_id();
    for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(lanes));
        const T before = sum;
        sum = Operation::apply(sum, read_lane(value, lane));
        if (lane == own) result = exclusive ? before : sum;
    }
    total = sum;
    return result;
}

inline constexpr uint64_t all_lanes = wavefront_size == 64 ? ~uint64_t{0} : 0xffffffffu;

template <class Operation, class T>
HSADRV_CONVERGENT T wave_reduce(T value) {
    const uint64_t lanes = wave_active_lanes();
    if (lanes == all_lanes) return read_lane(scan_full_wave<Operation>(value), wavefront_size - 1);
    T total;
    scan_active_lanes<Operation>(value, lanes, false, total);
    return total;
}

template <class Operation, class T>
HSADRV_CONVERGENT T wave_inclusive_scan(T value) {
    const uint64_t lanes = wave_active_lanes();
    if (lanes == all_lanes) return scan_full_wave<Operation>(value);
    T total;
    return scan_active_lanes<Operation>(value, lanes, false, total);
}

template <class Operation, class T>
HSADRV_CONVERGENT T wave_exclusive_scan(T value) {
    const uint64_t lanes = wave_active_lanes();
    if (lanes != all_lanes) {
        T total;
        return scan_active_lanes<Operation>(value, lanes, true, total);
    }
    return lane_below(Operation::template identity<T>(), scan_full_wave<Operation>(value));
}

}  // namespace detail

template <class T>
HSADRV_CONVERGENT T wave_reduce_add(T value) {
    return detail::wave_reduce<detail::WaveAdd>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_reduce_min(T value) {
    return detail::wave_reduce<detail::WaveMin>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_reduce_max(T value) {
    return detail::wave_reduce<detail::WaveMax>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_reduce_and(T value) {
    return detail::wave_reduce<detail::WaveAnd>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_reduce_or(T value) {
    return detail::wave_reduce<detail::WaveOr>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_reduce_xor(T value) {
    return detail::wave_reduce<detail::WaveXor>(value);
}

/// Over the lanes up to and including this one.
template <class T>
HSADRV_CONVERGENT T wave_inclusive_scan_add(T value) {
    return detail::wave_inclusive_scan<detail::WaveAdd>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_inclusive_scan_min(T value) {
    return detail::wave_inclusive_scan<detail::WaveMin>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_inclusive_scan_max(T value) {
    return detail::wave_inclusive_scan<detail::WaveMax>(value);
}

/// Over the lanes below this one; in the first lane the identity: 0, or the greatest or least number.
template <class T>
HSADRV_CONVERGENT T wave_exclusive_scan_add(T value) {
    return detail::wave_exclusive_scan<detail::WaveAdd>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_exclusive_scan_min(T value) {
    return detail::wave_exclusive_scan<detail::WaveMin>(value);
}
template <class T>
HSADRV_CONVERGENT T wave_exclusive_scan_max(T value) {
    return detail::wave_exclusive_scan<detail::WaveMax>(value);
}

}  // namespace hsadrv
