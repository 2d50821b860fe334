// Parts of math.hpp: exponentials.
//
// x is k * ln 2 + r with |r| <= 0.35, and e^x = 2^k * (1 + q), where q = e^r - 1 is the Taylor polynomial of degree 14:
// its truncation is below 2^-61.
#pragma once

#include "math_parts.hpp"

namespace hsadrv::detail {

inline constexpr double log2_e = 0x1.71547652b82fep+0;
/// ln 2. `high` has 42 bits, so that its products with exponents are exact.
inline constexpr TwoDoubles ln_2 = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};
inline constexpr TwoDoubles ln_2_full = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr TwoDoubles ln_10 = {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53};
inline constexpr double log2_10 = 0x1.a934f0979a371p+1;
/// Arguments that are larger than this overflow or underflow.
inline constexpr double largest_exponent = 1200;

struct Rounded {
    double value;
    int integer;
};
/// The nearest integer; |x| < 2^31. A NaN yields a NaN and any integer.
HSADRV_DEVICE Rounded nearest_integer(double x) {
    HSADRV_AS_WRITTEN
    constexpr double shift = 0x1.8p52;  // its sum with x has the integer in its low bits
    const double sum = x + shift;
    return {sum - shift, static_cast<int>(__builtin_bit_cast(uint64_t, sum))};
}

/// Within the limits; a NaN stays one.
HSADRV_DEVICE double limited(double x, double limit) {
    if (x > limit) return limit;
    return x < -limit ? -limit : x;
}

/// e^(x.high + x.low) - 1 for |x.high| <= 0.35: a large part and a small one.
HSADRV_DEVICE TwoDoubles small_expm1(TwoDoubles x) {
    const double tail = polynomial(
        x.high, inverse_factorial(2), inverse_factorial(3), inverse_factorial(4), inverse_factorial(5),
        inverse_factorial(6), inverse_factorial(7), inverse_factorial(8), inverse_factorial(9), inverse_factorial(10),
        inverse_factorial(11), inverse_factorial(12), inverse_factorial(13), inverse_factorial(14));
    return {x.high, fused(x.high * x.high, tail, x.low)};
}

/// 2^k * e^x for |x.high| <= 0.35.
HSADRV_DEVICE double exp_of_parts(int k, TwoDoubles x) {
    const TwoDoubles q = small_expm1(x);
    const TwoDoubles sum = sum_of_ordered(1, q.high);
    return __builtin_amdgcn_ldexp(sum.high + (sum.low + q.low), k);
}

/// e^(high + low).
HSADRV_DEVICE double exp_of(TwoDoubles x) {
    const double high = limited(x.high, largest_exponent);
    const double low = high == x.high ? x.low : 0;
    const Rounded k = nearest_integer(high * log2_e);
    const TwoDoubles r = sum_of_ordered(fused(-k.value, ln_2.high, high), fused(-k.value, ln_2.low, low));
    return exp_of_parts(k.integer, r);
}

HSADRV_DEVICE double exp_double(double x) { return exp_of({x, 0}); }

HSADRV_DEVICE double exp2_double(double x) {
    x = limited(x, 2 * largest_exponent);
    const Rounded k = nearest_integer(x);
    const TwoDoubles r = product_of(TwoDoubles{x - k.value, 0}, ln_2_full);
    return exp_of_parts(k.integer, r);
}

HSADRV_DEVICE double exp10_double(double x) {
    x = limited(x, largest_exponent / 2);
    const Rounded k = nearest_integer(x * log2_10);
    const TwoDoubles y = product_of(x, ln_10.high);
    const double low = fused(-k.value, ln_2.low, fused(x, ln_10.low, y.low));
    const TwoDoubles r = sum_of_ordered(fused(-k.value, ln_2.high, y.high), low);
    return exp_of_parts(k.integer, r);
}

HSADRV_DEVICE double expm1_double(double x) {
    if (x == 0) return x;  // with its sign
    const double within = limited(x, largest_exponent);
    const Rounded k = nearest_integer(within * log2_e);
    const TwoDoubles r = sum_of_ordered(fused(-k.value, ln_2.high, within), -k.value * ln_2.low);
    if (k.integer > 1000) return exp_of_parts(k.integer, r);
    const TwoDoubles q = small_expm1(r);
    const double power = __builtin_amdgcn_ldexp(1.0, k.integer);
    const TwoDoubles sum = sum_of(power - 1, power * q.high);
    return sum.high + fused(power, q.low, sum.low);
}

}  // namespace hsadrv::detail
