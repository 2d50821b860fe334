// Floating point as defined by IEEE 754: results that it leaves open are replaced by one value.
#pragma once

#include "integers.hpp"

// clang 19 takes 0 - a, and -a + 0 which it writes so, for -a where an instruction reads it with a modifier: -0 where a
// is 0 (AMDGPUISelDAGToDAG.cpp, SelectVOP3ModsImpl: "Fold fsub [+-]0 into fneg"). It may learn late that a number is 0:
// so it does not know what reads a sum or a difference.
template <class F>
FN F hidden(F a) {
#if ON_DEVICE
    asm("" : "+v"(a));
#endif
    return a;
}
// Each element by itself, for it puts vectors together by instructions with modifiers.
FN f16x2 hidden(f16x2 a) { return f16x2{hidden(a[0]), hidden(a[1])}; }
FN f32x2 hidden(f32x2 a) { return f32x2{hidden(a[0]), hidden(a[1])}; }
template <class F>
FN F sum(F a, F b) {
    return hidden(F(a + b));
}
template <class F>
FN F difference(F a, F b) {
    return hidden(F(a - b));
}
/// LLVM before August 2026 adds +0 to a product that it rounds by V_FMA_MIXLO_F16, which makes +0 of -0 (llvm-project,
/// pull request 214544): it sees no product here.
template <class F>
FN f16 half_of(F a) {
    return f16(hidden(a));
}
/// The number, of which the compiler does not know that it is 0.
template <class F>
FN F hidden_zero(F a) {
    return __builtin_constant_p(a) && a == 0 ? hidden(a) : a;
}
/// -a. clang 19 takes two words for the halves of a double, and negates only the upper one, where it sees how they came
/// to be (AMDGPUISelLowering.cpp, performFNegCombine, case BITCAST): it sees nothing here.
FN f32x2 negated(f32x2 a) { return -hidden(a); }

#if ON_DEVICE
FN f16 any_fused(f16 a, f16 b, f16 c) { return __builtin_fmaf16(a, b, c); }
FN f16 root(f16 a) { return __builtin_sqrtf16(a); }
/// a * 2^by. clang 19 and 22 make one of two, and add their exponents, though the sum may overflow: they see nothing
/// here.
FN f32 scale(f32 a, i32 by) { return __builtin_amdgcn_ldexpf(hidden(a), by); }
FN f64 scale(f64 a, i32 by) { return __builtin_amdgcn_ldexp(hidden(a), by); }
FN f32 mantissa(f32 a) { return __builtin_amdgcn_frexp_mantf(a); }
FN f64 mantissa(f64 a) { return __builtin_amdgcn_frexp_mant(a); }
FN i32 exponent(f32 a) { return __builtin_amdgcn_frexp_expf(a); }
FN i32 exponent(f64 a) { return __builtin_amdgcn_frexp_exp(a); }
#define IS_CLASS(a, mask) __builtin_amdgcn_classf(a, mask)
#define IS_CLASS_64(a, mask) __builtin_amdgcn_class(a, mask)
#else
/// A double holds a half's product, and the sum too wherever the half's rounding looks.
FN f16 any_fused(f16 a, f16 b, f16 c) { return f16(__builtin_fma(f64(a), f64(b), f64(c))); }
FN f16 root(f16 a) { return f16(__builtin_sqrt(f64(a))); }
FN f32 scale(f32 a, i32 by) { return __builtin_ldexpf(a, by); }
FN f64 scale(f64 a, i32 by) { return __builtin_ldexp(a, by); }
template <class F>
FN bool is_finite(F a) {
    return a - a == 0;
}
// V_FREXP_*: infinity and NaN have exponent 0, and are their own mantissa.
FN i32 exponent(f64 a) {
    int e = 0;
    if (is_finite(a)) (void)__builtin_frexp(a, &e);
    return e;
}
FN i32 exponent(f32 a) { return exponent(f64(a)); }
FN f64 mantissa(f64 a) {
    int e = 0;
    return is_finite(a) ? __builtin_frexp(a, &e) : a;
}
FN f32 mantissa(f32 a) { return f32(mantissa(f64(a))); }
/// V_CMP_CLASS: bits 0 and 1 NaN, then from -infinity to +infinity.
FN u32 class_of(bool negative, bool nan, bool infinite, bool zero, bool tiny) {
    if (nan) return 3;
    const u32 from_zero = zero ? 0 : tiny ? 1 : infinite ? 3 : 2;
    return negative ? 1u << (5 - from_zero) : 1u << (6 + from_zero);
}
FN bool IS_CLASS(f32 a, u32 mask) {
    const f32 size = __builtin_fabsf(a);
    return class_of(bits(a) >> 31, a != a, size > 0x1.fffffep127f, a == 0, size < 0x1p-126f) & mask;
}
FN bool IS_CLASS_64(f64 a, u32 mask) {
    const f64 size = __builtin_fabs(a);
    return class_of(bits(a) >> 63, a != a, size > 0x1.fffffffffffffp1023, a == 0, size < 0x1p-1022) & mask;
}
#endif

FN f32 any_fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
FN f64 any_fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
/// Where clang knows a factor for 0, or both, a sum is what it becomes.
template <class F>
FN F fused(F a, F b, F c) {
    return any_fused(hidden_zero(a), hidden_zero(b), hidden_zero(c));
}
/// LLVM before 18 makes V_SQRT_F32 alone of it, which flushes denormals: they are brought into its range.
FN f32 root(f32 a) {
    const bool small = ON_DEVICE && __clang_major__ < 18 && a > -0x1p-96f && a < 0x1p-96f;
    return small ? __builtin_sqrtf(a * 0x1p32f) * 0x1p-16f : __builtin_sqrtf(a);
}
FN f64 root(f64 a) { return __builtin_sqrt(a); }
FN f16x2 fused(f16x2 a, f16x2 b, f16x2 c) { return f16x2{fused(a[0], b[0], c[0]), fused(a[1], b[1], c[1])}; }
FN f32x2 fused(f32x2 a, f32x2 b, f32x2 c) { return f32x2{fused(a[0], b[0], c[0]), fused(a[1], b[1], c[1])}; }

// Of two zeros either may be the lesser: + 0 makes both +0.
FN f16 lesser(f16 a, f16 b) { return sum<f16>(__builtin_fminf16(a, b), f16(0)); }
FN f32 lesser(f32 a, f32 b) { return sum(__builtin_fminf(a, b), 0.0f); }
FN f64 lesser(f64 a, f64 b) { return sum(__builtin_fmin(a, b), 0.0); }
FN f16 greater(f16 a, f16 b) { return sum<f16>(__builtin_fmaxf16(a, b), f16(0)); }
FN f32 greater(f32 a, f32 b) { return sum(__builtin_fmaxf(a, b), 0.0f); }
FN f64 greater(f64 a, f64 b) { return sum(__builtin_fmax(a, b), 0.0); }
FN f16x2 lesser(f16x2 a, f16x2 b) { return f16x2{lesser(a[0], b[0]), lesser(a[1], b[1])}; }
FN f16x2 greater(f16x2 a, f16x2 b) { return f16x2{greater(a[0], b[0]), greater(a[1], b[1])}; }

FN f16 size(f16 a) { return as_f16(bits(a) & 0x7fff); }
FN f32 size(f32 a) { return __builtin_fabsf(a); }
FN f64 size(f64 a) { return __builtin_fabs(a); }
FN f32 with_sign(f32 a, f32 b) { return __builtin_copysignf(a, b != b ? 1.0f : b); }
FN f64 with_sign(f64 a, f64 b) { return __builtin_copysign(a, b != b ? 1.0 : b); }

FN f16 rounded_down(f16 a) { return f16(__builtin_floorf(f32(a))); }
FN f32 rounded_down(f32 a) { return __builtin_floorf(a); }
FN f64 rounded_down(f64 a) { return __builtin_floor(a); }
FN f16 rounded_up(f16 a) { return f16(__builtin_ceilf(f32(a))); }
FN f32 rounded_up(f32 a) { return __builtin_ceilf(a); }
FN f64 rounded_up(f64 a) { return __builtin_ceil(a); }
FN f16 cut(f16 a) { return f16(__builtin_truncf(f32(a))); }
FN f32 cut(f32 a) { return __builtin_truncf(a); }
FN f64 cut(f64 a) { return __builtin_trunc(a); }
FN f16 nearest(f16 a) { return f16(__builtin_rintf(f32(a))); }
FN f32 nearest(f32 a) { return __builtin_rintf(a); }
FN f64 nearest(f64 a) { return __builtin_rint(a); }

FN f32 quotient(f32 a, f32 b) { return a / b; }
FN f64 quotient(f64 a, f64 b) { return a / b; }
/// Quotients below the normal ones are 0: LLVM's division of halves does not round them right at every tie.
FN f16 quotient(f16 a, f16 b) {
    const f16 q = a / b;
    return size(q) < f16(0x1p-13f) ? f16(0) : q;
}

/// Truncated; 0 if T cannot represent it.
template <class T, class F>
FN T whole(F a) {
    const f64 x = f64(a), limit = f64(u64(1) << (width<T> - 1)) * (is_signed<T> ? 1 : 2);
    const f64 least = is_signed<T> ? -limit : 0;
    return (width<T> == 64 && is_signed<T> ? x >= least : x > least - 1) && x < limit ? T(a) : T(0);
}
