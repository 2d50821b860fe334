// Parts of math.hpp: powers and roots, and hyperbolic functions.
#pragma once

#include "math_logarithm.hpp"

namespace hsadrv::detail {

HSADRV_DEVICE bool is_integer(double x) { return __builtin_trunc(x) == x; }
HSADRV_DEVICE bool is_odd(double x) { return is_integer(x) && !is_integer(0.5 * x); }

/// pow(x, y), of which `power` is right for |x| if that is finite and neither 0 nor 1. Source: ISO C, F.10.4.4.
HSADRV_DEVICE double pow_or_special(double x, double y, double power) {
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return not_a_number;
    const double base = magnitude(x);
    if (base == 1) power = 1;
    if (base == 0 || base == infinity) power = (base == 0) == (y < 0) ? infinity : 0;
    const bool negative = __builtin_bit_cast(uint64_t, x) >> 63;
    if (negative && is_odd(y)) return -power;
    if (negative && base != 0 && base != infinity && !is_integer(y)) return not_a_number;
    return power;
}

HSADRV_DEVICE double pow_double(double x, double y) {
    const TwoDoubles log = log_of(magnitude(x));
    const double limit = magnitude(y) < 0x1p80 ? y : __builtin_copysign(0x1p80, y);  // far beyond every overflow
    const TwoDoubles product = product_of(limit, log.high);
    return pow_or_special(x, y, exp_of({product.high, fused(limit, log.low, product.low)}));
}
HSADRV_DEVICE double pow_single(double x, double y) {
    return pow_or_special(x, y, exp_double(y * rough_log_of(magnitude(x))));
}

HSADRV_DEVICE double cbrt_double(double x) {
    if (x == 0 || !(magnitude(x) < infinity)) return x;
    const int exponent = __builtin_amdgcn_frexp_exp(x);
    const int third = (exponent + 3 * 1024) / 3 - 1024;  // rounded down
    const double a = __builtin_amdgcn_ldexp(magnitude(x), -3 * third);
    double root = 0.63 + 0.37 * a;  // between 0.5 and 4 within 0.27 of the root
    for (int i = 0; i < 5; ++i) {   // each doubles the number of right bits
        const TwoDoubles square = product_of(root, root);
        const TwoDoubles cube = product_of(square, {root, 0});
        root -= ((cube.high - a) + cube.low) / (3 * square.high);
    }
    return __builtin_copysign(__builtin_amdgcn_ldexp(root, third), x);
}

/// Exact: the mantissas are divided as integers, 11 bits of the quotient at a time.
HSADRV_DEVICE double fmod_double(double x, double y) {
    const double a = magnitude(x), b = magnitude(y);
    if (!(b > 0) || !(a < infinity)) return not_a_number;
    if (a < b) return x;
    const auto integer = [](double value) {
        return static_cast<uint64_t>(__builtin_amdgcn_ldexp(__builtin_amdgcn_frexp_mant(value), 53));
    };
    const uint64_t divisor = integer(b);
    const int exponent = __builtin_amdgcn_frexp_exp(b);
    uint64_t rest = integer(a) % divisor;
    for (int left = __builtin_amdgcn_frexp_exp(a) - exponent; left > 0 && rest != 0; left -= 11)
        rest = (rest << (left < 11 ? left : 11)) % divisor;
    return __builtin_copysign(__builtin_amdgcn_ldexp(static_cast<double>(rest), exponent - 53), x);
}

HSADRV_DEVICE double hypot_double(double x, double y) {
    x = magnitude(x);
    y = magnitude(y);
    if (x == infinity || y == infinity) return infinity;
    const double larger = x > y ? x : y, smaller = x > y ? y : x;
    if (larger == 0 || larger != larger || smaller != smaller) return larger + smaller;
    const int exponent = __builtin_amdgcn_frexp_exp(larger);
    const double a = __builtin_amdgcn_ldexp(larger, -exponent), b = __builtin_amdgcn_ldexp(smaller, -exponent);
    const TwoDoubles square = product_of(a, a);
    const double sum = square.high + fused(b, b, square.low);
    return __builtin_amdgcn_ldexp(__builtin_sqrt(sum), exponent);
}

HSADRV_DEVICE double sinh_double(double x) {
    const double a = magnitude(x);
    if (a > 20) {
        const double root = exp_double(0.5 * a);
        return __builtin_copysign(0.5 * root * root, x);
    }
    const double e = expm1_double(a);
    return __builtin_copysign(a < 0x1p-30 ? a : 0.5 * (e + e / (e + 1)), x);
}
HSADRV_DEVICE double cosh_double(double x) {
    const double a = magnitude(x);
    if (a > 20) {
        const double root = exp_double(0.5 * a);
        return 0.5 * root * root;
    }
    const double e = exp_double(a);
    return 0.5 * (e + 1 / e);
}
HSADRV_DEVICE double tanh_double(double x) {
    const double a = magnitude(x);
    const double e = expm1_double(2 * (a > 20 ? 20 : a));
    const double value = a > 0.5 ? 1 - 2 / (e + 2) : e / (e + 2);
    return __builtin_copysign(x != x || a < 0x1p-30 ? a : value, x);
}

}  // namespace hsadrv::detail
