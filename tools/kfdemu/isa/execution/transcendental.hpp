// v_exp, v_log, v_rcp, v_rsq, v_sqrt, v_sin, v_cos, and the division helpers.
//
// The 32-bit instructions are computed in double and rounded once, within 0.501 ulp for normal results: better than the
// 1 ulp of the "Vega" ISA manual. (v_sin, v_cos: absolute error below 2^-24 after an exact range reduction.) 64-bit
// v_rcp and v_rsq, specified with 2^29 ulp, are correctly rounded or within 1 ulp. All round to nearest regardless of
// MODE (kNearest), and the 32-bit instructions except sine and cosine flush denormals (kFlushesSingles). Compiled for
// each executor, in its namespace.
#pragma once

#include "tools/kfdemu/isa/execution/float_math.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// 2^x for a float x: 2^n in the exponent bits times a polynomial of the remainder, |remainder| <= 1/2 (Taylor to
/// degree 11: error < 2^-48).
KFDEMU_INLINE double exp2_wide(double x) {
    const double bounded = x > 1024.0 ? 1024.0 : x < -1020.0 ? -1020.0 : x;
    const double whole = __builtin_floor(bounded + 0.5);
    const double r = (bounded - whole) * 0.6931471805599453;
    double sum = 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    const i32 n = static_cast<i32>(whole);
    return sum * power_of_two<double>(n > 1023 ? 1023 : n) * (n > 1023 ? 2.0 : 1.0);
}
KFDEMU_INLINE float exp2(float x) {
    const double in = is_nan(x) ? 0.0 : static_cast<double>(x);
    const float result = static_cast<float>(exp2_wide(in));
    const float limit = is_infinite(x) ? (x > 0 ? x : 0.0f) : result;
    return is_nan(x) ? quieted(x) : limit;
}

/// log2 of a positive normal double: exponent plus 2/ln2 * atanh((m-1)/(m+1)), m in [sqrt(1/2), sqrt(2)).
KFDEMU_INLINE double log2_wide(double x) {
    const u64 raw = bits<u64>(x);
    const u64 shifted = raw + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    const i32 n = static_cast<i32>(shifted >> 52) - 1023;
    const double m = bits<double>(raw - (static_cast<u64>(static_cast<i64>(n)) << 52));
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double sum = 1.0 / 19;
    sum = sum * z + 1.0 / 17;
    sum = sum * z + 1.0 / 15;
    sum = sum * z + 1.0 / 13;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    const double log = 2.0 * s + 2.0 * s * z * sum;
    return static_cast<double>(n) + log * 1.4426950408889634;
}
KFDEMU_INLINE float log2(float x) {
    const bool ordinary = x > 0 && !is_infinite(x);
    const float result = static_cast<float>(log2_wide(ordinary ? static_cast<double>(x) : 1.0));
    const float odd = x == 0 ? -__builtin_inff() : x < 0 ? bits<float>(0xffc00000u) : is_nan(x) ? quieted(x) : x;
    return ordinary ? result : odd;
}

KFDEMU_INLINE float reciprocal(float x) { return nan_of(1.0f / x, x); }
KFDEMU_INLINE double reciprocal(double x) { return nan_of(1.0 / x, x); }
KFDEMU_INLINE float square_root(float x) { return negative_nan_of(__builtin_sqrtf(x), x); }
KFDEMU_INLINE double square_root(double x) { return negative_nan_of(__builtin_sqrt(x), x); }
KFDEMU_INLINE float reciprocal_root(float x) {
    return negative_nan_of(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))), x);
}
KFDEMU_INLINE double reciprocal_root(double x) { return negative_nan_of(1.0 / __builtin_sqrt(x), x); }

/// sin(2 pi t), |t| <= 1/4, odd Taylor polynomial to degree 17: error < 2^-45.
KFDEMU_INLINE double sine_quarter(double t) {
    const double a = t * 6.283185307179586;
    const double z = a * a;
    double sum = 1.0 / 355687428096000;
    sum = sum * z - 1.0 / 1307674368000;
    sum = sum * z + 1.0 / 6227020800;
    sum = sum * z - 1.0 / 39916800;
    sum = sum * z + 1.0 / 362880;
    sum = sum * z - 1.0 / 5040;
    sum = sum * z + 1.0 / 120;
    sum = sum * z - 1.0 / 6;
    return a + a * z * sum;
}
/// The argument is in turns; outside [-256, 256] hardware returns 0 (sine) or 1 (cosine).
KFDEMU_INLINE float sine_turns(float x) {
    const bool inside = x >= -256.0f && x <= 256.0f;
    const double t = static_cast<double>(inside ? x : 0.0f);
    const double part = t - __builtin_floor(t + 0.5);
    const double folded = part > 0.25 ? 0.5 - part : part < -0.25 ? -0.5 - part : part;
    const float result = static_cast<float>(sine_quarter(folded));
    const float signed_zero = x == 0 ? x : result;
    const bool no_number = is_nan(x) || is_infinite(x);
    return no_number ? negative_nan_of(bits<float>(0x7fc00000u), x) : signed_zero;
}
KFDEMU_INLINE float cosine_turns(float x) {
    const bool inside = x >= -256.0f && x <= 256.0f;
    const double t = static_cast<double>(inside ? x : 0.0f);
    const double part = __builtin_fabs(t - __builtin_floor(t + 0.5));
    const float result = static_cast<float>(sine_quarter(0.25 - part));
    const bool no_number = is_nan(x) || is_infinite(x);
    return no_number ? negative_nan_of(bits<float>(0x7fc00000u), x) : result;
}

// Division: v_div_scale, v_div_fmas, v_div_fixup (specified in the "Instinct MI300" ISA manual, only named in "Vega").

template <class F>
struct Division;
template <>
struct Division<float> {
    static constexpr int far = 96, scale = 64, tiny = 23;
};
template <>
struct Division<double> {
    static constexpr int far = 768, scale = 128, tiny = 53;
};

/// Whether numerator / denominator, both finite and not zero, is below the smallest normal number.
template <class F>
KFDEMU_INLINE bool quotient_is_denormal(F numerator, F denominator) {
    const F n = __builtin_fabs(frexp_mantissa(numerator)), d = __builtin_fabs(frexp_mantissa(denominator));
    const i32 exponent = frexp_exponent(numerator) - frexp_exponent(denominator) - (n < d ? 1 : 0);
    return exponent < 1 - Ieee<F>::bias;
}

/// s0 is s1 (denominator) or s2 (numerator). The carry makes v_div_fmas scale back.
template <class F>
KFDEMU_INLINE F div_scale(F s0, F s1, F s2, bool& carry) {
    constexpr int scale = Division<F>::scale;
    const bool special = either(magnitude(s1) >= Ieee<F>::infinity, magnitude(s2) >= Ieee<F>::infinity);
    const bool zero = either(s1 == 0, s2 == 0);
    const bool is_denominator = bits<BitsOf<F>>(s0) == bits<BitsOf<F>>(s1);
    const bool is_numerator = bits<BitsOf<F>>(s0) == bits<BitsOf<F>>(s2);
    const bool far = raw_exponent(s2) - raw_exponent(s1) >= Division<F>::far;
    const bool denormal_denominator = raw_exponent(s1) == 0;
    const bool denormal_reciprocal = raw_exponent(s1) >= 2 * Ieee<F>::bias - 1 && quotient_is_denormal(F{1}, s1);
    const bool denormal_quotient = quotient_is_denormal(s2, s1);
    const bool tiny = raw_exponent(s2) <= Division<F>::tiny;
    const F up = load_exponent(s0, scale), down = load_exponent(s0, -scale);

    carry = !zero && !special && (far || (!denormal_denominator && denormal_quotient));
    const F near_limits = denormal_reciprocal && denormal_quotient ? (is_denominator ? down : s0)
                          : denormal_reciprocal                    ? down
                          : denormal_quotient                      ? (is_numerator ? up : s0)
                          : tiny                                   ? up
                                                                   : s0;
    const F scaled = far ? (is_denominator ? up : s0) : denormal_denominator ? up : near_limits;
    return zero ? bits<F>(Ieee<F>::nan) : special ? s0 : scaled;
}

/// The rounding error of a * b + c in `sum`; its sign is exact.
KFDEMU_INLINE double lost_in(double sum, double a, double b, double c) {
    const double product = a * b, product_rest = __builtin_fma(a, b, -product);
    const double rough = product + c, part = rough - product;
    const double rough_rest = (product - (rough - part)) + (c - part);
    return (rough - sum) + (rough_rest + product_rest);
}

/// Scaling back must not round a denormal quotient a second time: a sum halfway between two denormals goes to the one
/// nearer to the value before rounding. `cut` is what scaling removed from the sum, `half` is half a denormal's last
/// place at that scale.
template <class F>
KFDEMU_INLINE F rounded_once(F scaled, F cut, F half, double lost, F unit) {
    const F right = both(cut == half, lost > 0) ? unit : both(cut == -half, lost < 0) ? -unit : F{0};
    return scaled + right;
}
KFDEMU_INLINE float div_fmas(float a, float b, float c, bool scale_back) {
    const float sum = fused(a, b, c);
    const bool up = raw_exponent(c) > Ieee<float>::bias;
    const float scaled = sum * (up ? 0x1p64f : 0x1p-64f);
    const float once = rounded_once(scaled, sum - scaled * 0x1p64f, 0x1p-86f, lost_in(sum, a, b, c), 0x1p-149f);
    const float result = both(!up, __builtin_fabsf(sum) < 0x1p-62f) ? once : scaled;
    return scale_back ? nan_of(result, a, b, c) : sum;
}
KFDEMU_INLINE double div_fmas(double a, double b, double c, bool scale_back) {
    const double sum = fused(a, b, c);
    const bool up = raw_exponent(c) > Ieee<double>::bias;
    const double scaled = sum * (up ? 0x1p128 : 0x1p-128);
    const double once = rounded_once(scaled, sum - scaled * 0x1p128, 0x1p-947, lost_in(sum, a, b, c), 0x1p-1074);
    const double result = both(!up, __builtin_fabs(sum) < 0x1p-894) ? once : scaled;
    return scale_back ? nan_of(result, a, b, c) : sum;
}

/// s0 is the quotient, s1 the denominator, s2 the numerator.
template <class F>
KFDEMU_INLINE F div_fixup(F s0, F s1, F s2) {
    const bool negative = is_negative(s1) != is_negative(s2);
    const F inf = bits<F>(Ieee<F>::infinity);
    const bool invalid = either(both(s1 == 0, s2 == 0), both(is_infinite(s1), is_infinite(s2)));
    const int distance = raw_exponent(s2) - raw_exponent(s1);
    // Far beyond the largest number, the earlier steps overflowed to infinity and produced a NaN.
    const bool overflow = either(s1 == 0, is_infinite(s2), distance > Ieee<F>::bias + 1);
    const bool underflow = either(s2 == 0, is_infinite(s1), distance < -Ieee<F>::bias - Ieee<F>::mantissa);
    const F number = with_sign(overflow ? inf : underflow ? F{0} : s0, negative);
    const F made = bits<F>(Ieee<F>::nan | Ieee<F>::sign);
    return is_nan(s2) ? quieted(s2) : is_nan(s1) ? quieted(s1) : invalid ? made : number;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
