// Parts of math.hpp: the inverse trigonometric functions.
//
// All are the arc tangent of a quotient: atan(y/x) = atan(c) + atan((y - c*x) / (x + c*y)), where c is the multiple of
// 1/4 next to y/x and leaves at most 1/8 to the Taylor polynomial.
#pragma once

#include "math_angle.hpp"

namespace hsadrv::detail {

/// atan(c / 4)
HSADRV_DEVICE TwoDoubles arc_of_quarters(int c) {
    if (c == 0) return {0, 0};
    if (c == 1) return {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57};
    if (c == 2) return {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56};
    if (c == 3) return {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56};
    return {half_pi[0] / 2, half_pi[1] / 2};
}

/// atan(y / x) for 0 <= y <= x, x finite, not 0 and far from overflow and underflow.
HSADRV_DEVICE TwoDoubles arc_below_one(double y, double x) {
    HSADRV_AS_WRITTEN
    const Rounded quarters = nearest_integer(4 * (y / x));
    const double c = 0.25 * quarters.value;
    const TwoDoubles cx = product_of(c, x), cy = product_of(c, y);
    const double numerator = (y - cx.high) - cx.low;
    const TwoDoubles denominator = sum_of_ordered(x, cy.high);
    const double t = numerator / denominator.high;
    const double rest = fused(-t, denominator.high, numerator) - t * (denominator.low + cy.low);
    const double t_low = rest * __builtin_amdgcn_rcp(denominator.high);
    const double z = t * t;
    const double tail = polynomial(z, -1. / 3, 1. / 5, -1. / 7, 1. / 9, -1. / 11, 1. / 13, -1. / 15, 1. / 17, -1. / 19);
    const TwoDoubles arc = arc_of_quarters(quarters.integer);
    const TwoDoubles sum = sum_of_ordered(arc.high, t);
    return sum_of_ordered(sum.high, fused(t * z, tail, sum.low + arc.low + t_low));
}

/// atan2 for non-negative y and x.
HSADRV_DEVICE TwoDoubles arc_of(double y, double x) {
    const double larger = y > x ? y : x, smaller = y > x ? x : y;
    if (larger == 0) return {0, 0};
    TwoDoubles arc;
    if (larger == infinity) {
        arc = smaller == infinity ? TwoDoubles{half_pi[0] / 2, half_pi[1] / 2} : TwoDoubles{0, 0};
    } else {
        const int exponent = -__builtin_amdgcn_frexp_exp(larger);
        arc = arc_below_one(__builtin_amdgcn_ldexp(smaller, exponent), __builtin_amdgcn_ldexp(larger, exponent));
        if (arc.high < 0x1p-1000) arc = {smaller / larger, 0};  // the scaled one lost bits
    }
    if (y <= x) return arc;
    const TwoDoubles rest = sum_of_ordered(half_pi[0], -arc.high);
    return sum_of_ordered(rest.high, rest.low + (half_pi[1] - arc.low));
}

HSADRV_DEVICE double atan2_double(double y, double x) {
    if (y != y || x != x) return not_a_number;
    TwoDoubles arc = arc_of(magnitude(y), magnitude(x));
    if (__builtin_bit_cast(uint64_t, x) >> 63) {
        const TwoDoubles rest = sum_of_ordered(2 * half_pi[0], -arc.high);
        arc = sum_of_ordered(rest.high, rest.low + (2 * half_pi[1] - arc.low));
    }
    return __builtin_copysign(arc.high, y);
}

HSADRV_DEVICE double atan_double(double x) { return x != x ? x : __builtin_copysign(arc_of(magnitude(x), 1).high, x); }

/// sqrt((1 - x) * (1 + x)) for |x| <= 1.
HSADRV_DEVICE double other_leg(double x) { return __builtin_sqrt((1 - x) * (1 + x)); }

HSADRV_DEVICE double asin_double(double x) {
    if (!(magnitude(x) <= 1)) return not_a_number;
    return __builtin_copysign(arc_of(magnitude(x), other_leg(x)).high, x);
}
HSADRV_DEVICE double acos_double(double x) {
    if (!(magnitude(x) <= 1)) return not_a_number;
    return 2 * arc_of(__builtin_sqrt(1 - x), __builtin_sqrt(1 + x)).high;
}

}  // namespace hsadrv::detail
