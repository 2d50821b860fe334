// Floating-point instructions, one lane: NaN, zero and denormal rules that C++ operators do not define.
//
// Compiled for each executor, in its namespace. Branch-free, so that lane loops vectorise.
#pragma once

#include "tools/kfdemu/isa/execution/exec.hpp"

namespace kfdemu::isa {
/// 0, which no compiler knows.
extern std::int32_t unknown_zero;
}  // namespace kfdemu::isa

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

// Constants of a format, so that float and double share one implementation.
template <class F>
struct Ieee;
template <>
struct Ieee<float> {
    using Bits = u32;
    using Int = i32;
    static constexpr int mantissa = 23, bias = 127, top = 0xff;
    static constexpr u32 sign = 0x80000000, infinity = 0x7f800000, quiet = 0x400000, nan = 0x7fc00000;
};
template <>
struct Ieee<double> {
    using Bits = u64;
    using Int = i64;
    static constexpr int mantissa = 52, bias = 1023, top = 0x7ff;
    static constexpr u64 sign = 0x8000000000000000, infinity = 0x7ff0000000000000, quiet = 0x8000000000000,
                         nan = 0x7ff8000000000000;
};
template <class F>
using BitsOf = typename Ieee<F>::Bits;

/// Of halves, each a signed number to the compiler, whose sum is rounded once. clang, below AVX-512, converts what it
/// knows to be unsigned as a difference: zero is then -0 if the mode rounds towards minus infinity.
KFDEMU_INLINE float float_of(u32 v) {
    return static_cast<float>(static_cast<i32>(v >> 16) + unknown_zero) * 65536.0f +
           static_cast<float>(static_cast<i32>(v & 0xffff) + unknown_zero);
}
KFDEMU_INLINE double double_of(u32 v) {
    return static_cast<double>(static_cast<i32>(v >> 16) + unknown_zero) * 65536.0 +
           static_cast<double>(static_cast<i32>(v & 0xffff) + unknown_zero);
}

template <class F>
KFDEMU_INLINE bool is_nan(F v) {
    return v != v;
}
template <class F>
KFDEMU_INLINE BitsOf<F> magnitude(F v) {
    return bits<BitsOf<F>>(v) & ~Ieee<F>::sign;
}
template <class F>
KFDEMU_INLINE bool is_signalling(F v) {
    return both(is_nan(v), (bits<BitsOf<F>>(v) & Ieee<F>::quiet) == 0);
}
template <class F>
KFDEMU_INLINE bool is_infinite(F v) {
    return magnitude(v) == Ieee<F>::infinity;
}
template <class F>
KFDEMU_INLINE F quieted(F v) {
    return bits<F>(bits<BitsOf<F>>(v) | Ieee<F>::quiet);
}
template <class F>
KFDEMU_INLINE F with_sign(F v, bool negative) {
    return bits<F>(magnitude(v) | (negative ? Ieee<F>::sign : 0));
}
template <class F>
KFDEMU_INLINE bool is_negative(F v) {
    return (bits<BitsOf<F>>(v) & Ieee<F>::sign) != 0;
}
template <class F>
KFDEMU_INLINE int raw_exponent(F v) {
    return static_cast<int>(magnitude(v) >> Ieee<F>::mantissa);
}

/// x86 produces a negative default NaN and GFX9 a positive one, and which operand's NaN x86 propagates depends on the
/// compiler's operand order. This returns the first NaN operand, quieted, or the default NaN.
template <class F>
KFDEMU_INLINE F nan_of(F result, F a, F b) {
    const F made = is_nan(a) ? quieted(a) : is_nan(b) ? quieted(b) : bits<F>(Ieee<F>::nan);
    return is_nan(result) ? made : result;
}
template <class F>
KFDEMU_INLINE F nan_of(F result, F a, F b, F c) {
    const F made = is_nan(a) ? quieted(a) : is_nan(b) ? quieted(b) : is_nan(c) ? quieted(c) : bits<F>(Ieee<F>::nan);
    return is_nan(result) ? made : result;
}
template <class F>
KFDEMU_INLINE F nan_of(F result, F a) {
    return is_nan(result) ? (is_nan(a) ? quieted(a) : bits<F>(Ieee<F>::nan)) : result;
}

/// The same for roots, logarithms and sines, which return a negative NaN outside their domain ("Vega" ISA manual,
/// V_SQRT_F32, V_RSQ_F32, V_LOG_F32, V_SIN_F32).
template <class F>
KFDEMU_INLINE F negative_nan_of(F result, F a) {
    return is_nan(result) ? (is_nan(a) ? quieted(a) : bits<F>(Ieee<F>::nan | Ieee<F>::sign)) : result;
}

template <class F>
KFDEMU_INLINE F add(F a, F b) {
    return nan_of(a + b, a, b);
}
template <class F>
KFDEMU_INLINE F sub(F a, F b) {
    return nan_of(a - b, a, b);
}
template <class F>
KFDEMU_INLINE F mul(F a, F b) {
    return nan_of(a * b, a, b);
}
#if defined(__FMA__)
KFDEMU_INLINE float fused_once(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
/// Without FMA hardware: the product is exact in double, and the sum is rounded to odd, which keeps a sticky last bit,
/// so that the rounding to float is the only one (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
KFDEMU_INLINE float fused_once(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b), addend = static_cast<double>(c);
    const double sum = product + addend;
    const double part = sum - product;
    const double rest = (product - (sum - part)) + (addend - part);
    const u64 raw = bits<u64>(sum);
    const bool cut = both(either(rest < 0, rest > 0), both((raw & 1) == 0, sum != 0));
    const u64 odd = (rest > 0) != (sum < 0) ? raw + 1 : raw - 1;
    return static_cast<float>(cut ? bits<double>(odd) : sum);
}
#endif
KFDEMU_INLINE float fused(float a, float b, float c) { return nan_of(fused_once(a, b, c), a, b, c); }
KFDEMU_INLINE double fused(double a, double b, double c) { return nan_of(__builtin_fma(a, b, c), a, b, c); }
/// The 16-bit fused operation: exact in double except for a sticky remainder, so it rounds once.
KFDEMU_INLINE float fused_half(float a, float b, float c, const Context& x) {
    const double sum = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
    return nan_of(float_of_half(half_of_double(sum, x.round_f64)), a, b, c);
}
/// CLAMP, where a result is not one float alone.
KFDEMU_INLINE float clamped(float v, const Context& x) {
    const float low = v > 0 ? v : 0.0f, bounded = low < 1.0f ? low : 1.0f;
    return both(x.clamp, either(x.dx10, !is_nan(v))) ? bounded : v;
}
/// Rounds a float to 16 bits and back: the middle step of an unfused 16-bit multiply-add.
KFDEMU_INLINE float rounded_half(float v, const Context& x) { return float_of_half(HalfFloat::to(v, x)); }
/// v_mad_f16: multiply, round, add.
KFDEMU_INLINE float mad_half(float a, float b, float c, const Context& x) {
    return nan_of(rounded_half(a * b, x) + c, a, b, c);
}
/// v_mad_f32, v_mac_f32: multiply, round, add; denormals are flushed regardless of MODE ("Vega" ISA manual, V_MAD_F32).
namespace quick {
KFDEMU_INLINE float mad(float a, float b, float c) {
    const float product = flush(flush(a, true) * flush(b, true), true);
    return flush(product + flush(c, true), true);
}
}  // namespace quick
KFDEMU_INLINE float mad(float a, float b, float c) { return nan_of(quick::mad(a, b, c), a, b, c); }
/// The DX9 rule: zero times anything is zero.
KFDEMU_INLINE float mul_legacy(float a, float b) { return either(a == 0, b == 0) ? 0.0f : mul(a, b); }
KFDEMU_INLINE float mad_legacy(float a, float b, float c) {
    return either(flush(a, true) == 0, flush(b, true) == 0) ? nan_of(flush(c, true), c) : mad(a, b, c);
}

KFDEMU_INLINE float fused_legacy(float a, float b, float c) {
    return either(a == 0, b == 0) ? nan_of(c, c) : fused(a, b, c);
}

/// Variants for callers that check results for NaN afterwards: correct unless the result is NaN, and NaN whenever the
/// exact result depends on a NaN.
namespace quick {
template <class F, class... Operands>
KFDEMU_INLINE F nan_of(F result, Operands...) {
    return result;
}
template <class F>
KFDEMU_INLINE F add(F a, F b) {
    return a + b;
}
template <class F>
KFDEMU_INLINE F sub(F a, F b) {
    return a - b;
}
template <class F>
KFDEMU_INLINE F mul(F a, F b) {
    return a * b;
}
KFDEMU_INLINE float fused(float a, float b, float c) { return fused_once(a, b, c); }
KFDEMU_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
}  // namespace quick

/// A total order in which -0 < +0; not for NaN.
template <class F>
KFDEMU_INLINE typename Ieee<F>::Int order(F v) {
    using Int = typename Ieee<F>::Int;
    const auto raw = bits<Int>(v);
    const Int sign = raw >> (8 * sizeof(F) - 1);
    return raw ^ static_cast<Int>(static_cast<BitsOf<F>>(sign) >> 1);
}
namespace quick {
template <class F, bool maximum>
KFDEMU_INLINE F extreme(F a, F b, bool flushed) {
    const F fa = flush(a, flushed), fb = flush(b, flushed);
    const F number = (maximum ? order(fa) >= order(fb) : order(fa) <= order(fb)) ? fa : fb;
    return either(is_nan(a), is_nan(b)) ? bits<F>(Ieee<F>::nan) : number;
}
KFDEMU_INLINE float min(float a, float b, const quick::Context& x) { return extreme<float, false>(a, b, x.flush_f32); }
KFDEMU_INLINE float max(float a, float b, const quick::Context& x) { return extreme<float, true>(a, b, x.flush_f32); }
KFDEMU_INLINE double min(double a, double b, const quick::Context& x) {
    return extreme<double, false>(a, b, x.flush_f64);
}
KFDEMU_INLINE double max(double a, double b, const quick::Context& x) {
    return extreme<double, true>(a, b, x.flush_f64);
}
}  // namespace quick

/// IEEE 754's minimum and maximum: NaN wins, and -0 is less than +0.
KFDEMU_INLINE float minimum(float a, float b) { return quick::extreme<float, false>(a, b, false); }
KFDEMU_INLINE float maximum(float a, float b) { return quick::extreme<float, true>(a, b, false); }

/// The same, which keep a NaN, a signalling one first: V_MINIMUM and V_MAXIMUM of GFX12.
template <class F, bool greatest>
KFDEMU_INLINE F kept_extreme(F a, F b, bool flushed) {
    const auto number = bits<BitsOf<F>>(quick::extreme<F, greatest>(a, b, flushed));
    const auto qa = bits<BitsOf<F>>(quieted(a)), qb = bits<BitsOf<F>>(quieted(b));
    const bool take_a = either(is_signalling(a), both(!is_signalling(b), is_nan(a)));
    const auto nan = take_a ? qa : qb;
    return bits<F>(either(is_nan(a), is_nan(b)) ? nan : number);
}
KFDEMU_INLINE float least_of(float a, float b, const Context& x) {
    return kept_extreme<float, false>(a, b, x.flush_f32);
}
KFDEMU_INLINE float greatest_of(float a, float b, const Context& x) {
    return kept_extreme<float, true>(a, b, x.flush_f32);
}
KFDEMU_INLINE double least_of(double a, double b, const Context& x) {
    return kept_extreme<double, false>(a, b, x.flush_f64);
}
KFDEMU_INLINE double greatest_of(double a, double b, const Context& x) {
    return kept_extreme<double, true>(a, b, x.flush_f64);
}

/// V_MIN and V_MAX: a number wins over NaN, and the second of two NaNs over the first. In IEEE mode a signalling NaN is
/// returned, quieted. With number_wins, it is IEEE 754-2019's minimumNumber: of two NaNs, the first is returned,
/// quieted.
template <class F, bool maximum>
KFDEMU_INLINE F extreme(F a, F b, const Context& x, bool flushed) {
    const auto fa = bits<BitsOf<F>>(flush(a, flushed)), fb = bits<BitsOf<F>>(flush(b, flushed));
    const auto qa = bits<BitsOf<F>>(quieted(a)), qb = bits<BitsOf<F>>(quieted(b));
    const bool first = maximum ? order(bits<F>(fa)) >= order(bits<F>(fb)) : order(bits<F>(fa)) <= order(bits<F>(fb));
    const bool take_b = either(is_nan(a), both(!is_nan(b), !first));
    const auto chosen = take_b ? fb : fa;
    const auto plain = both(x.number_wins, both(is_nan(a), is_nan(b))) ? qa : chosen;
    const auto loud = is_signalling(a) ? qa : is_signalling(b) ? qb : plain;
    const BitsOf<F> ieee = BitsOf<F>{0} - BitsOf<F>{x.ieee};
    return bits<F>((loud & ieee) | (plain & ~ieee));
}
KFDEMU_INLINE float min(float a, float b, const Context& x) { return extreme<float, false>(a, b, x, x.flush_f32); }
KFDEMU_INLINE float max(float a, float b, const Context& x) { return extreme<float, true>(a, b, x, x.flush_f32); }
KFDEMU_INLINE double min(double a, double b, const Context& x) { return extreme<double, false>(a, b, x, x.flush_f64); }
KFDEMU_INLINE double max(double a, double b, const Context& x) { return extreme<double, true>(a, b, x, x.flush_f64); }
/// "Vega" ISA manual, V_MED3_F32: the maximum of the two operands that remain without the largest; with a NaN it is
/// V_MIN3_F32.
KFDEMU_INLINE float med3(float a, float b, float c, const Context& x) {
    const float low = min(a, b, x), high = max(a, b, x), greatest = max(high, c, x);
    const float middle = greatest == a ? max(b, c, x) : greatest == b ? max(a, c, x) : high;
    const float least = min(low, c, x);
    return either(is_nan(a), is_nan(b), is_nan(c)) ? least : middle;
}

/// V_CMP_CLASS: bit 0 signalling NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8
/// +normal, 9 +inf.
template <class F>
KFDEMU_INLINE bool in_class(F v, u32 classes) {
    const auto m = magnitude(v);
    const u32 kind = m == 0 ? 3u : m < (BitsOf<F>{1} << Ieee<F>::mantissa) ? 2u : m < Ieee<F>::infinity ? 1u : 0u;
    const u32 number = is_negative(v) ? 2 + kind : 9 - kind;
    const u32 which = m > Ieee<F>::infinity ? ((m & Ieee<F>::quiet) != 0 ? 1u : 0u) : number;
    return (classes >> which) & 1;
}
/// The same for the bits of a 16-bit float.
KFDEMU_INLINE bool in_class_half(u32 half, u32 classes) {
    const u32 m = half & 0x7fff;
    const u32 kind = m == 0 ? 3u : m < 0x400 ? 2u : m < 0x7c00 ? 1u : 0u;
    const u32 number = (half & 0x8000) ? 2 + kind : 9 - kind;
    const u32 which = m > 0x7c00 ? ((m & 0x200) != 0 ? 1u : 0u) : number;
    return (classes >> which) & 1;
}

/// 2^n, for n in the exponent range of normal numbers.
template <class F>
KFDEMU_INLINE F power_of_two(int n) {
    return bits<F>(static_cast<BitsOf<F>>(n + Ieee<F>::bias) << Ieee<F>::mantissa);
}
/// Rounds once: the first two steps are exact unless the result is denormal, zero or infinite in any case.
template <class F>
KFDEMU_INLINE F load_exponent(F v, i32 n) {
    constexpr int step = Ieee<F>::bias - 1;
    const i32 bounded = n > 4 * step ? 4 * step : n < -4 * step ? -4 * step : n;
    if constexpr (sizeof(F) == 4) {
        // Every intermediate fits a double exactly.
        const i32 in_double = bounded > 500 ? 500 : bounded < -500 ? -500 : bounded;
        return nan_of(static_cast<float>(static_cast<double>(v) * power_of_two<double>(in_double)), v);
    } else {
        // Scaled near 1 first, so that only the last multiplication can round.
        const auto m = magnitude(v);
        const bool tiny = m < (BitsOf<F>{1} << Ieee<F>::mantissa);
        const F normal = tiny ? v * power_of_two<F>(64) : v;
        const i32 exponent = raw_exponent(normal) - Ieee<F>::bias;
        const bool zero = v == 0;  // includes denormals if MODE flushes them
        const bool special = either(zero, m >= Ieee<F>::infinity);
        const F one = bits<F>((bits<BitsOf<F>>(normal) & ~(static_cast<BitsOf<F>>(Ieee<F>::top) << Ieee<F>::mantissa)) |
                              (static_cast<BitsOf<F>>(Ieee<F>::bias) << Ieee<F>::mantissa));
        const i32 total = exponent - (tiny ? 64 : 0) + bounded;
        const i32 high = total > 1023 ? 1023 : total < -1022 ? -1022 : total;
        const i32 rest = total - high;
        const i32 low = rest > 1023 ? 1023 : rest < -1022 ? -1022 : rest;
        const F same = zero ? with_sign(F{0}, is_negative(v)) : v;
        return nan_of(special ? same : one * power_of_two<F>(high) * power_of_two<F>(low), v);
    }
}

/// V_FREXP_EXP and V_FREXP_MANT: v = mantissa * 2^exponent, mantissa in [0.5, 1). Zero, inf and NaN: exponent
/// 0, mantissa v.
template <class F>
KFDEMU_INLINE i32 frexp_exponent(F v) {
    const auto m = magnitude(v);
    const bool tiny = m < (BitsOf<F>{1} << Ieee<F>::mantissa);
    // The exponent of a denormal is that of its integer mantissa converted to float.
    const F as_integer = static_cast<F>(static_cast<typename Ieee<F>::Int>(m));
    const i32 denormal = raw_exponent(as_integer) - Ieee<F>::bias - (Ieee<F>::bias - 2 + Ieee<F>::mantissa);
    const i32 exponent = tiny ? denormal : raw_exponent(v) - (Ieee<F>::bias - 1);
    return either(m == 0, m >= Ieee<F>::infinity) ? 0 : exponent;
}
template <class F>
KFDEMU_INLINE F frexp_mantissa(F v) {
    const auto m = magnitude(v);
    const bool tiny = m < (BitsOf<F>{1} << Ieee<F>::mantissa);
    const F as_integer = static_cast<F>(static_cast<typename Ieee<F>::Int>(m));
    const auto source = tiny ? bits<BitsOf<F>>(as_integer) : m;
    const auto fraction = source & ((BitsOf<F>{1} << Ieee<F>::mantissa) - 1);
    const auto half = fraction | (static_cast<BitsOf<F>>(Ieee<F>::bias - 1) << Ieee<F>::mantissa);
    const F mantissa = with_sign(bits<F>(half), is_negative(v));
    return either(m == 0, m >= Ieee<F>::infinity) ? nan_of(v, v) : mantissa;
}

KFDEMU_INLINE float trunc(float v) { return nan_of(__builtin_truncf(v), v); }
KFDEMU_INLINE float ceil(float v) { return nan_of(__builtin_ceilf(v), v); }
KFDEMU_INLINE float floor(float v) { return nan_of(__builtin_floorf(v), v); }
KFDEMU_INLINE double trunc(double v) { return nan_of(__builtin_trunc(v), v); }
KFDEMU_INLINE double ceil(double v) { return nan_of(__builtin_ceil(v), v); }
KFDEMU_INLINE double floor(double v) { return nan_of(__builtin_floor(v), v); }
/// Rounds to nearest even regardless of MODE.
KFDEMU_INLINE float nearest_even(float v) {
    const float down = __builtin_floorf(v);
    const float rest = v - down;
    const bool odd = down - 2.0f * __builtin_floorf(down * 0.5f) != 0;
    const float up = down + 1.0f;
    const float chosen = either(rest > 0.5f, both(rest == 0.5f, odd)) ? up : down;
    return __builtin_fabsf(v) < 0x1p23f ? with_sign(chosen, is_negative(v)) : nan_of(v, v);
}
KFDEMU_INLINE double nearest_even(double v) {
    const double down = __builtin_floor(v);
    const double rest = v - down;
    const bool odd = down - 2.0 * __builtin_floor(down * 0.5) != 0;
    const double up = down + 1.0;
    const double chosen = either(rest > 0.5, both(rest == 0.5, odd)) ? up : down;
    return __builtin_fabs(v) < 0x1p52 ? with_sign(chosen, is_negative(v)) : nan_of(v, v);
}
/// v - floor(v), below 1; NaN for infinity.
KFDEMU_INLINE float fract(float v) {
    const float rest = v - __builtin_floorf(v);
    return nan_of(rest > 0x1.fffffep-1f ? 0x1.fffffep-1f : rest, v);
}
KFDEMU_INLINE double fract(double v) {
    const double rest = v - __builtin_floor(v);
    return nan_of(rest > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : rest, v);
}

// To integers: round towards zero, saturate, NaN becomes zero.

KFDEMU_INLINE i32 to_i32(float v) {
    const bool inside = v >= -2147483648.0f && v < 2147483648.0f;
    const i32 whole = static_cast<i32>(inside ? v : 0.0f);
    return v >= 2147483648.0f ? 0x7fffffff : v < -2147483648.0f ? -0x7fffffff - 1 : whole;
}
KFDEMU_INLINE u32 to_u32(float v) {
    const bool inside = v > -1.0f && v < 4294967296.0f;
    const u32 whole = static_cast<u32>(inside && v > 0 ? v : 0.0f);
    return v >= 4294967296.0f ? 0xffffffff : whole;
}
KFDEMU_INLINE i32 to_i32(double v) {
    const bool inside = v > -2147483649.0 && v < 2147483648.0;
    const i32 whole = static_cast<i32>(inside ? v : 0.0);
    return v >= 2147483648.0 ? 0x7fffffff : v <= -2147483649.0 ? -0x7fffffff - 1 : whole;
}
KFDEMU_INLINE u32 to_u32(double v) {
    const bool inside = v > 0 && v < 4294967296.0;
    const u32 whole = static_cast<u32>(inside ? v : 0.0);
    return v >= 4294967296.0 ? 0xffffffff : whole;
}
KFDEMU_INLINE i16 to_i16(float v) {
    const i32 whole = to_i32(v);
    return static_cast<i16>(whole > 32767 ? 32767 : whole < -32768 ? -32768 : whole);
}
KFDEMU_INLINE u16 to_u16(float v) {
    const u32 whole = to_u32(v);
    return static_cast<u16>(whole > 65535 ? 65535 : whole);
}
/// Normalised: [-1, 1] to [-32767, 32767], [0, 1] to [0, 65535], nearest even.
KFDEMU_INLINE u32 to_snorm16(float v) {
    const float bounded = v > 1.0f ? 1.0f : v < -1.0f ? -1.0f : v;
    return static_cast<u16>(to_i16(nearest_even(bounded * 32767.0f)));
}
KFDEMU_INLINE u32 to_unorm16(float v) {
    const float bounded = v > 1.0f ? 1.0f : v > 0 ? v : 0.0f;
    return to_u16(nearest_even(bounded * 65535.0f));
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
