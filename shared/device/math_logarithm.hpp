// Parts of math.hpp: logarithms.
//
// x is 2^k * m with m between sqrt(1/2) and sqrt(2), and ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172, whose
// Taylor series is cut off where it falls below half a unit in the last place.
#pragma once

#include "math_exponential.hpp"

namespace hsadrv::detail {

inline constexpr TwoDoubles log2_e_full = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr TwoDoubles log10_e = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
inline constexpr TwoDoubles two_thirds = {0x1.5555555555555p-1, 0x1.5555555555555p-55};

struct Scaled {
    double fraction;  ///< m - 1
    double exponent;  ///< k
};
/// x is positive and finite.
HSADRV_DEVICE Scaled scaled(double x) {
    constexpr double sqrt_half = 0x1.6a09e667f3bcdp-1;
    const double mantissa = __builtin_amdgcn_frexp_mant(x);
    const int exponent = __builtin_amdgcn_frexp_exp(x);
    if (mantissa < sqrt_half) return {2 * mantissa - 1, static_cast<double>(exponent - 1)};
    return {mantissa - 1, static_cast<double>(exponent)};
}

/// ln x for positive finite x, with an error of at most 2^-61.5 of it; near 1, of about 2^-75.
HSADRV_DEVICE TwoDoubles log_of(double x) {
    const auto [f, k] = scaled(x);
    const TwoDoubles divisor = sum_of_ordered(2, f);
    const double s = f / divisor.high;
    const double rest = fused(-s, divisor.low, fused(-s, divisor.high, f));
    const double s_low = rest * __builtin_amdgcn_rcp(divisor.high);
    const TwoDoubles z = product_of(s, s);
    const TwoDoubles cube = product_of(product_of(z, {s, 0}), two_thirds);
    const double tail =
        polynomial(z.high, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21, 2. / 23);
    const TwoDoubles a = sum_of_ordered(k * ln_2.high, 2 * s);
    const TwoDoubles b = sum_of_ordered(a.high, cube.high);
    double low = fused(s * z.high * z.high, tail, cube.low);
    low = fused(2 * s_low, 1 + z.high, low);
    low = fused(k, ln_2.low, low);
    return sum_of_ordered(b.high, low + b.low + a.low);
}

/// The same with an error of about 2^-40, for results in single precision.
HSADRV_DEVICE double rough_log_of(double x) {
    HSADRV_AS_WRITTEN
    const auto [f, k] = scaled(x);
    const double s = f / (2 + f);
    const double z = s * s;
    const double tail = z * polynomial(z, 2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13);
    return fused(k, ln_2_full.high, f - s * (f - tail));
}

/// A logarithm of any x, of which `value` is right for positive finite x.
HSADRV_DEVICE double log_or_special(double x, double value) {
    if (x == 0) return -infinity;
    if (!(x > 0)) return not_a_number;
    return x == infinity ? x : value;
}

HSADRV_DEVICE double log_double(double x) { return log_or_special(x, log_of(x).high); }
/// ln x * scale
HSADRV_DEVICE double log_double(double x, TwoDoubles scale) {
    return log_or_special(x, product_of(log_of(x), scale).high);
}
HSADRV_DEVICE double log_single(double x, double scale) { return log_or_special(x, rough_log_of(x) * scale); }

HSADRV_DEVICE double log1p_double(double x) {
    if (magnitude(x) < 0x1p-54) return x;  // with its sign
    const TwoDoubles sum = sum_of(1, x);
    const TwoDoubles log = log_of(sum.high);
    return log_or_special(sum.high, log.high + (log.low + sum.low / sum.high));
}

}  // namespace hsadrv::detail
