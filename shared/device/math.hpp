// Mathematical functions for kernels in C++, in float and double: no library is linked.
//
//     #include <shared/device/math.hpp>
//     y[i] = hsadrv::exp(-x[i]) * hsadrv::sin(2 * x[i]);
//
// The largest error of a result, in units in the last place, measured by tests/shared/math.cpp against the host's
// 80-bit functions on all exponents of both signs (of two arguments: of each):
//
//                                                            float                    double
//     sqrt, fma, floor, ceil, trunc, rint, fabs, fmin, fmax  0.5 (correctly rounded)  0.5
//     fmod                                                   0 (exact)                0
//     log, log2, log10                                       0.51                     0.51
//     exp, exp2, exp10, log1p, atan, atan2, cbrt             0.51                     0.7
//     sin, cos, hypot                                        0.51                     1
//     expm1, rsqrt                                           0.51                     1.5
//     asin, pow                                              0.51                     2
//     tan, acos, sinh, cosh, tanh, asinh, acosh, atanh       0.51                     2.5
//     lgamma (of positive x), tgamma                         0.51                     5, 8
//
// Results that are subnormal may be off by one more. Special values are those of ISO C, annex F; nothing sets errno or
// flags. Functions of float compute in double: on GPUs with few double units (gfx900) the GPU's own instructions,
// __builtin_amdgcn_exp2f, _logf (base 2), _rcpf, _rsqf, _sinf and _cosf (of x / 2 pi), are faster, with about 1 ulp on
// a part of the range. With -ffast-math the bounds do not hold.
#pragma once

#include "math_angle.hpp"
#include "math_arc.hpp"
#include "math_area.hpp"
#include "math_exponential.hpp"
#include "math_gamma.hpp"
#include "math_logarithm.hpp"
#include "math_power.hpp"

namespace hsadrv {

// Each is one instruction or clang's own correctly rounded sequence.
HSADRV_DEVICE double sqrt(double x) { return __builtin_sqrt(x); }
HSADRV_DEVICE float sqrt(float x) { return static_cast<float>(__builtin_sqrt(static_cast<double>(x))); }
HSADRV_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HSADRV_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

#define HSADRV_MATH_BUILTIN(name)                                       \
    HSADRV_DEVICE double name(double x) { return __builtin_##name(x); } \
    HSADRV_DEVICE float name(float x) { return __builtin_##name##f(x); }
HSADRV_MATH_BUILTIN(floor)
HSADRV_MATH_BUILTIN(ceil)
HSADRV_MATH_BUILTIN(trunc)
HSADRV_MATH_BUILTIN(rint)
HSADRV_MATH_BUILTIN(fabs)
#undef HSADRV_MATH_BUILTIN

#define HSADRV_MATH_BUILTIN(name)                                                    \
    HSADRV_DEVICE double name(double x, double y) { return __builtin_##name(x, y); } \
    HSADRV_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }
HSADRV_MATH_BUILTIN(fmin)
HSADRV_MATH_BUILTIN(fmax)
HSADRV_MATH_BUILTIN(copysign)
#undef HSADRV_MATH_BUILTIN

/// 1 / sqrt(x)
HSADRV_DEVICE double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
HSADRV_DEVICE float rsqrt(float x) { return static_cast<float>(rsqrt(static_cast<double>(x))); }

HSADRV_DEVICE double log(double x) { return detail::log_double(x); }
HSADRV_DEVICE float log(float x) { return static_cast<float>(detail::log_single(x, 1)); }
HSADRV_DEVICE double log2(double x) { return detail::log_double(x, detail::log2_e_full); }
HSADRV_DEVICE float log2(float x) { return static_cast<float>(detail::log_single(x, detail::log2_e_full.high)); }
HSADRV_DEVICE double log10(double x) { return detail::log_double(x, detail::log10_e); }
HSADRV_DEVICE float log10(float x) { return static_cast<float>(detail::log_single(x, detail::log10_e.high)); }

/// Of an angle in radians, also a large one.
HSADRV_DEVICE double sin(double x) { return x == 0 ? x : detail::sin_of(detail::angle_of(x)); }
HSADRV_DEVICE float sin(float x) { return x == 0 ? x : static_cast<float>(detail::sin_of(detail::rough_angle_of(x))); }
HSADRV_DEVICE double cos(double x) { return detail::cos_of(detail::angle_of(x)); }
HSADRV_DEVICE float cos(float x) { return static_cast<float>(detail::cos_of(detail::rough_angle_of(x))); }
HSADRV_DEVICE double tan(double x) { return x == 0 ? x : detail::tan_of(detail::angle_of(x)); }
HSADRV_DEVICE float tan(float x) { return x == 0 ? x : static_cast<float>(detail::tan_of(detail::rough_angle_of(x))); }

/// Sine and cosine of the same angle, for little more than one of them.
template <class T>
struct SineCosine {
    T sine, cosine;
};
HSADRV_DEVICE SineCosine<double> sincos(double x) {
    const detail::Angle angle = detail::angle_of(x);
    return {x == 0 ? x : detail::sin_of(angle), detail::cos_of(angle)};
}
HSADRV_DEVICE SineCosine<float> sincos(float x) {
    const detail::Angle angle = detail::rough_angle_of(x);
    return {x == 0 ? x : static_cast<float>(detail::sin_of(angle)), static_cast<float>(detail::cos_of(angle))};
}

// The others compute floats as doubles.
#define HSADRV_MATH_FUNCTION(name)                                           \
    HSADRV_DEVICE double name(double x) { return detail::name##_double(x); } \
    HSADRV_DEVICE float name(float x) { return static_cast<float>(detail::name##_double(x)); }
HSADRV_MATH_FUNCTION(exp)
HSADRV_MATH_FUNCTION(exp2)
HSADRV_MATH_FUNCTION(exp10)
HSADRV_MATH_FUNCTION(expm1)
HSADRV_MATH_FUNCTION(log1p)
HSADRV_MATH_FUNCTION(asin)
HSADRV_MATH_FUNCTION(acos)
HSADRV_MATH_FUNCTION(atan)
HSADRV_MATH_FUNCTION(sinh)
HSADRV_MATH_FUNCTION(cosh)
HSADRV_MATH_FUNCTION(tanh)
HSADRV_MATH_FUNCTION(asinh)
HSADRV_MATH_FUNCTION(acosh)
HSADRV_MATH_FUNCTION(atanh)
HSADRV_MATH_FUNCTION(cbrt)
HSADRV_MATH_FUNCTION(tgamma)
HSADRV_MATH_FUNCTION(lgamma)
#undef HSADRV_MATH_FUNCTION

/// The angle of the point (x, y), -pi to pi.
HSADRV_DEVICE double atan2(double y, double x) { return detail::atan2_double(y, x); }
HSADRV_DEVICE float atan2(float y, float x) { return static_cast<float>(detail::atan2_double(y, x)); }
/// sqrt(x * x + y * y) without overflow or underflow in between.
HSADRV_DEVICE double hypot(double x, double y) { return detail::hypot_double(x, y); }
HSADRV_DEVICE float hypot(float x, float y) { return static_cast<float>(detail::hypot_double(x, y)); }
/// The rest of the division, with the sign of x.
HSADRV_DEVICE double fmod(double x, double y) { return detail::fmod_double(x, y); }
HSADRV_DEVICE float fmod(float x, float y) { return static_cast<float>(detail::fmod_double(x, y)); }
HSADRV_DEVICE double pow(double x, double y) { return detail::pow_double(x, y); }
HSADRV_DEVICE float pow(float x, float y) { return static_cast<float>(detail::pow_single(x, y)); }

}  // namespace hsadrv
