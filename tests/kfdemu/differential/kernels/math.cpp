// The mathematical functions of ROCm's device libraries, as in HIP and OpenCL, against long double rounded once.
// They promise OpenCL's accuracy ("Relative Error as ULPs"); what is exact by its nature has to be exact.
#define UNIT "math"
#include "twin.hpp"

// clang 14 cannot read the libraries' bitcode.
#if HAS_CLANG(16)

#if defined(__AMDGCN__)
#define UNARY(name, host)                                                 \
    extern "C" f32 __ocml_##name##_f32(f32);                              \
    extern "C" f64 __ocml_##name##_f64(f64);                              \
    static inline f32 name##_of(f32 x) { return __ocml_##name##_f32(x); } \
    static inline f64 name##_of(f64 x) { return __ocml_##name##_f64(x); }
#define BINARY(name, host)                                                          \
    extern "C" f32 __ocml_##name##_f32(f32, f32);                                   \
    extern "C" f64 __ocml_##name##_f64(f64, f64);                                   \
    static inline f32 name##_of(f32 x, f32 y) { return __ocml_##name##_f32(x, y); } \
    static inline f64 name##_of(f64 x, f64 y) { return __ocml_##name##_f64(x, y); }
#else
#define UNARY(name, host)                         \
    template <class T>                            \
    static T name##_of(T v) {                     \
        [[maybe_unused]] const long double x = v; \
        return T(host);                           \
    }
#define BINARY(name, host)              \
    template <class T>                  \
    static T name##_of(T v, T w) {      \
        const long double x = v, y = w; \
        return T(host);                 \
    }
#endif

UNARY(exp, std::exp(x))
UNARY(exp2, std::exp2(x))
UNARY(exp10, std::pow(10.0l, x))
UNARY(expm1, std::expm1(x))
UNARY(log, std::log(x))
UNARY(log2, std::log2(x))
UNARY(log10, std::log10(x))
UNARY(log1p, std::log1p(x))
UNARY(sin, std::sin(x))
UNARY(cos, std::cos(x))
UNARY(tan, std::tan(x))
UNARY(asin, std::asin(x))
UNARY(acos, std::acos(x))
UNARY(atan, std::atan(x))
UNARY(sinh, std::sinh(x))
UNARY(cosh, std::cosh(x))
UNARY(tanh, std::tanh(x))
UNARY(asinh, std::asinh(x))
UNARY(acosh, std::acosh(x))
UNARY(atanh, std::atanh(x))
UNARY(cbrt, std::cbrt(x))
UNARY(rsqrt, 1.0l / std::sqrt(x))
UNARY(sqrt, std::sqrt(v))  // once is exact, twice is not
UNARY(erf, std::erf(x))
UNARY(erfc, std::erfc(x))
UNARY(tgamma, x < 0 && x == std::floor(x) ? std::nanl("") : std::tgamma(x))
UNARY(round, std::round(x))
UNARY(rint, std::rint(x))
UNARY(trunc, std::trunc(x))
BINARY(atan2, std::atan2(x, y))
BINARY(pow, std::pow(x, y))
BINARY(hypot, std::hypot(x, y))
BINARY(fmod, std::fmod(x, y))
BINARY(remainder, std::remainder(x, y))
BINARY(fdim, std::fdim(x, y))
BINARY(copysign, std::copysign(x, y))

template <class T>
static inline void exponentials(const T* a, T* out) {
    const u32 i = global_id();
    const T x = a[i];
    T* o = out + i * 8;
    o[0] = exp_of(x);
    o[1] = exp2_of(x);
    o[2] = exp10_of(x);
    o[3] = expm1_of(x);
    o[4] = log_of(x);
    o[5] = log2_of(x);
    o[6] = log10_of(x);
    o[7] = log1p_of(x);
}
template <class T>
static inline void angles(const T* a, const T* b, T* out) {
    const u32 i = global_id();
    const T x = a[i], small = x / T(1000);
    T* o = out + i * 7;
    o[0] = sin_of(x);
    o[1] = cos_of(x);
    o[2] = tan_of(x);
    o[3] = asin_of(small);
    o[4] = acos_of(small);
    o[5] = atan_of(x);
    o[6] = atan2_of(x, b[i]);
}
template <class T>
static inline void hyperbolas(const T* a, T* out) {
    const u32 i = global_id();
    const T x = a[i];
    T* o = out + i * 8;
    o[0] = sinh_of(x);
    o[1] = cosh_of(x);
    o[2] = tanh_of(x);
    o[3] = asinh_of(x);
    o[4] = acosh_of(x);
    o[5] = atanh_of(x);
    o[6] = cbrt_of(x);
    o[7] = rsqrt_of(x);
}
template <class T>
static inline void special_functions(const T* a, const T* b, T* out) {
    const u32 i = global_id();
    T* o = out + i * 5;
    o[0] = erf_of(a[i]);
    o[1] = erfc_of(a[i]);
    // Far below zero the library loses digits in |x| + 3, and is at 0 before the function is.
    o[2] = tgamma_of(a[i] < -4 ? -a[i] : a[i]);
    o[3] = pow_of(a[i], b[i]);
    o[4] = hypot_of(a[i], b[i]);
}
template <class T>
static inline void exact_functions(const T* a, const T* b, T* out) {
    const u32 i = global_id();
    T* o = out + i * 8;
    o[0] = sqrt_of(a[i]);
    o[1] = fmod_of(a[i], b[i]);
    o[2] = remainder_of(a[i], b[i]);
    o[3] = round_of(a[i]) + T(0);  // clang 16 rounds -0.3 to 0, not to -0
    o[4] = rint_of(a[i]);
    o[5] = trunc_of(a[i]);
    o[6] = fdim_of(a[i], b[i]);
    o[7] = copysign_of(a[i], b[i]);
}

#define PROMISED "OpenCL promises no more"
#define EACH(T)                                                                                                     \
    KERNEL(exponentials_##T, T, T, T, .out = 8, .ulps = 3, .why_ulps = PROMISED, .from_clang = 16) {                \
        exponentials(a, out);                                                                                       \
    }                                                                                                               \
    KERNEL(angles_##T, T, T, T, .out = 7, .ulps = 6, .why_ulps = PROMISED, .from_clang = 16) { angles(a, b, out); } \
    KERNEL(hyperbolas_##T, T, T, T, .out = 8, .ulps = 5, .why_ulps = PROMISED, .from_clang = 16) {                  \
        hyperbolas(a, out);                                                                                         \
    }                                                                                                               \
    KERNEL(special_functions_##T, T, T, T, .out = 5, .ulps = 16, .why_ulps = PROMISED, .from_clang = 16) {          \
        special_functions(a, b, out);                                                                               \
    }                                                                                                               \
    KERNEL(exact_functions_##T, T, T, T, .items = 256, .out = 8, .from_clang = 16) { exact_functions(a, b, out); }
EACH(f32)
EACH(f64)
#endif

#undef UNIT
