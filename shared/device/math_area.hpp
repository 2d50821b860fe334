// Parts of math.hpp: the inverse hyperbolic functions, by log1p.
#pragma once

#include "math_logarithm.hpp"

namespace hsadrv::detail {

/// ln 2x for large x.
HSADRV_DEVICE double log_of_twice(double x) {
    const TwoDoubles log = log_of(x), sum = sum_of(log.high, ln_2_full.high);
    return log_or_special(x, sum.high + (sum.low + log.low + ln_2_full.low));
}

HSADRV_DEVICE double asinh_double(double x) {
    const double a = magnitude(x);
    const double value = a > 0x1p28 ? log_of_twice(a) : log1p_double(a + a * a / (1 + __builtin_sqrt(fused(a, a, 1))));
    return __builtin_copysign(x != x || a < 0x1p-30 ? a : value, x);
}

HSADRV_DEVICE double acosh_double(double x) {
    if (x > 0x1p28) return log_of_twice(x);
    const double t = x - 1;
    return x >= 1 ? log1p_double(t + __builtin_sqrt(fused(t, t, 2 * t))) : not_a_number;
}

HSADRV_DEVICE double atanh_double(double x) {
    const double a = magnitude(x);
    const double value = 0.5 * log1p_double(a < 0.5 ? fused(2 * a, a / (1 - a), 2 * a) : 2 * a / (1 - a));
    return __builtin_copysign(x != x || a < 0x1p-30 ? a : value, x);
}

}  // namespace hsadrv::detail
