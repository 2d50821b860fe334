// Every function of math.hpp: NAME_f64 and NAME_f32 apply it to each element.
#include <shared/device/math.hpp>
#include <shared/device/work_item.hpp>

#define ONE(name, type, suffix)                                                           \
    HSADRV_KERNEL void name##_##suffix(type* y, const type* x, const type*, uint32_t n) { \
        const uint32_t i = hsadrv::get_global_id(0);                                      \
        if (i < n) y[i] = hsadrv::name(x[i]);                                             \
    }
#define TWO(name, type, suffix)                                                             \
    HSADRV_KERNEL void name##_##suffix(type* y, const type* x, const type* z, uint32_t n) { \
        const uint32_t i = hsadrv::get_global_id(0);                                        \
        if (i < n) y[i] = hsadrv::name(x[i], z[i]);                                         \
    }
#define BOTH(kind, name) kind(name, double, f64) kind(name, float, f32)

BOTH(ONE, sqrt)
BOTH(ONE, rsqrt)
BOTH(ONE, floor)
BOTH(ONE, ceil)
BOTH(ONE, trunc)
BOTH(ONE, rint)
BOTH(ONE, fabs)
BOTH(ONE, exp)
BOTH(ONE, exp2)
BOTH(ONE, exp10)
BOTH(ONE, expm1)
BOTH(ONE, log)
BOTH(ONE, log2)
BOTH(ONE, log10)
BOTH(ONE, log1p)
BOTH(ONE, sin)
BOTH(ONE, cos)
BOTH(ONE, tan)
BOTH(ONE, asin)
BOTH(ONE, acos)
BOTH(ONE, atan)
BOTH(ONE, sinh)
BOTH(ONE, cosh)
BOTH(ONE, tanh)
BOTH(ONE, asinh)
BOTH(ONE, acosh)
BOTH(ONE, atanh)
BOTH(ONE, cbrt)
BOTH(ONE, tgamma)
BOTH(ONE, lgamma)
BOTH(TWO, fmin)
BOTH(TWO, fmax)
BOTH(TWO, copysign)
BOTH(TWO, atan2)
BOTH(TWO, hypot)
BOTH(TWO, fmod)
BOTH(TWO, pow)

#define SINE_AND_COSINE(type, suffix)                                                     \
    HSADRV_KERNEL void sincos_##suffix(type* y, const type* x, const type*, uint32_t n) { \
        const uint32_t i = hsadrv::get_global_id(0);                                      \
        const hsadrv::SineCosine<type> both = hsadrv::sincos(x[i / 2]);                   \
        if (i < n) y[i] = i % 2 == 0 ? both.sine : both.cosine;                           \
    }
SINE_AND_COSINE(double, f64)
SINE_AND_COSINE(float, f32)
