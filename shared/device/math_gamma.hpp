// Parts of math.hpp: the gamma function and its logarithm. Below 10 by the Taylor series of ln gamma at 2 and the
// recurrence, then by Stirling's series; below 0 by reflection. Source: NIST, Digital Library of Mathematical
// Functions, 5.5.1, 5.5.3, 5.7.3, 5.11.1.
#pragma once

#include "math_angle.hpp"
#include "math_exponential.hpp"
#include "math_logarithm.hpp"

namespace hsadrv::detail {

/// ln gamma(2 + z) for |z| <= 0.5: (1 - Euler's constant) z + the sum of (-z)^k (zeta(k) - 1) / k.
HSADRV_DEVICE double log_gamma_near_2(double z) {
    return z * polynomial(z, 0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a557607p-4, 0x1.51322ac7d8483p-6,
                          -0x1.e404fc218f5f2p-8, 0x1.7add6eadb6c30p-9, -0x1.38ac5c2bf8e08p-10, 0x1.0b36af86396e9p-11,
                          -0x1.d3fd4c76d2fc8p-13, 0x1.a127b0f17d65ap-14, -0x1.78de5bd7c81efp-15, 0x1.580dcee66eb02p-16,
                          -0x1.3cbc963ce2243p-17, 0x1.2597a39f34aacp-18, -0x1.11b2eb7679541p-19, 0x1.0064cdeb22f0fp-20,
                          -0x1.e2600d93cfd2fp-22, 0x1.c76bbb3f07a4dp-23, -0x1.af5a6cbbf8a97p-24, 0x1.99b93c2070b0fp-25,
                          -0x1.862c734df3eacp-26, 0x1.7469daccfadcdp-27, -0x1.6434a8447aeadp-28, 0x1.555a877ffd2c3p-29,
                          -0x1.47b1679258d0ep-30, 0x1.3b15d2b2fc10cp-31, -0x1.2f69a9fabe3e0p-32, 0x1.24932a337434cp-33);
}

/// gamma(x) = factor^power * e^log, 0 < x < 9.5.
struct GammaParts {
    double log, factor;
    bool divides;
};
HSADRV_DEVICE GammaParts gamma_below_ten(double x) {
    const double m = __builtin_rint(x), z = x - m;
    GammaParts parts{log_gamma_near_2(z), 1, m < 2};
    if (m == 0) parts.factor = x * (1 + x);
    if (m == 1) parts.factor = x;
    for (double j = 2; j < m; ++j) parts.factor *= j + z;
    return parts;
}

/// ln gamma(x) for x >= 9.5.
HSADRV_DEVICE TwoDoubles stirling(double x) {
    constexpr TwoDoubles half_ln_2_pi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
    const double inverse = 1 / x;
    const double series = inverse * polynomial(inverse * inverse, 1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188,
                                               -691. / 360360, 1. / 156, -3617. / 122400, 43867. / 244188);
    const TwoDoubles product = product_of(log_of(x), {x - 0.5, 0});
    const TwoDoubles difference = sum_of(product.high, -x), sum = sum_of(difference.high, half_ln_2_pi.high);
    return sum_of_ordered(sum.high, sum.low + difference.low + product.low + half_ln_2_pi.low + series);
}

/// -pi / (a sin(pi a)), which is gamma(-a) gamma(a), for a > 0 that is no integer.
HSADRV_DEVICE double reflection(double a) {
    constexpr double pi = 0x1.921fb54442d18p+1;
    const double turns = __builtin_rint(a);
    const double sine = sin_of(angle_of(pi * (a - turns)));
    return -pi / (a * (turns == 2 * __builtin_trunc(0.5 * turns) ? sine : -sine));
}

HSADRV_DEVICE double positive_gamma(double x) {
    if (x >= 9.5) return x > 172 ? infinity : exp_of(stirling(x));
    const GammaParts parts = gamma_below_ten(x);
    const double value = exp_double(parts.log);
    return parts.divides ? value / parts.factor : value * parts.factor;
}

HSADRV_DEVICE double tgamma_double(double x) {
    if (x > 0) return x == infinity ? x : positive_gamma(x);
    if (x == 0) return 1 / x;
    if (!(x > -infinity) || __builtin_rint(x) == x) return not_a_number;
    const double a = -x;
    if (a < 0x1p-60) return 1 / x;
    if (a < 9.5) return reflection(a) / positive_gamma(a);
    const TwoDoubles log = stirling(a);  // the quotient may be subnormal
    return a > 200 ? __builtin_copysign(0, reflection(a)) : reflection(a) * exp_of({-log.high, -log.low});
}

HSADRV_DEVICE double positive_log_gamma(double x) {
    if (x >= 9.5) return x > 0x1p1014 ? infinity : stirling(x).high;
    const GammaParts parts = gamma_below_ten(x);
    const double log = log_of(parts.factor).high;
    return parts.divides ? parts.log - log : parts.log + log;
}

/// ln |gamma(x)|
HSADRV_DEVICE double lgamma_double(double x) {
    if (x != x) return x;
    const double a = magnitude(x);
    if (a == infinity || a == 0) return infinity;
    if (a < 0x1p-60) return -log_of(a).high;
    if (x > 0) return positive_log_gamma(x);
    return __builtin_rint(x) == x ? infinity : log_of(magnitude(reflection(a))).high - positive_log_gamma(a);
}

}  // namespace hsadrv::detail
