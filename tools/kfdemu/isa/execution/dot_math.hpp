// Dot products of the halves, bytes or nibbles of two dwords, added to a third ("Vega 7nm" ISA manual, V_DOT2_F32_F16
// and following).
//
// Compiled for each executor, in its namespace.
#pragma once

#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The sum of products of `count` signed fields, plus c; exact before it wraps or saturates.
template <unsigned count>
KFDEMU_INLINE i32 dot_signed(u32 a, u32 b, i32 c, bool clamp) {
    constexpr unsigned width = 32 / count;
    i64 sum = c;
    for (unsigned n = 0; n < count; ++n) {
        const unsigned up = 32 - width * (n + 1);
        sum +=
            static_cast<i64>(static_cast<i32>(a << up) >> (32 - width)) * (static_cast<i32>(b << up) >> (32 - width));
    }
    return saturated_i32(sum, clamp);
}
/// Of fields that are signed where the instruction says so.
template <unsigned count>
KFDEMU_INLINE i32 dot_mixed(u32 a, u32 b, i32 c, const Context& x) {
    constexpr unsigned width = 32 / count;
    const auto number = [](u32 up, bool is_signed) KFDEMU_LAMBDA {
        return is_signed ? static_cast<i32>(up) >> (32 - width) : static_cast<i32>(up >> (32 - width));
    };
    i64 sum = c;
    for (unsigned n = 0; n < count; ++n) {
        const unsigned up = 32 - width * (n + 1);
        sum += i64{number(a << up, (x.signed_factors & 1) != 0)} * number(b << up, (x.signed_factors & 2) != 0);
    }
    return saturated_i32(sum, x.clamp);
}
template <unsigned count>
KFDEMU_INLINE u32 dot_unsigned(u32 a, u32 b, u32 c, bool clamp) {
    constexpr unsigned width = 32 / count;
    u64 sum = c;
    for (unsigned n = 0; n < count; ++n) {
        const unsigned up = 32 - width * (n + 1);
        sum += static_cast<u64>((a << up) >> (32 - width)) * ((b << up) >> (32 - width));
    }
    return saturated_u32(sum, clamp);
}

/// Of bytes that are floats: c, products in ascending order, each rounded once.
template <class A, class B>
KFDEMU_INLINE float dot4_small(u32 a, u32 b, float c, const Context&) {
    float sum = c;
    for (unsigned n = 0; n < 4; ++n) sum = fused(A::of(a >> 8 * n), B::of(b >> 8 * n), sum);
    return sum;
}

/// Of BF16: low product, high product, addend, each rounded once, in that order.
KFDEMU_INLINE float dot2_brain(u32 a, u32 b, float c, const Context&) {
    return add(fused(brain_at(a, 1), brain_at(b, 1), mul(brain_at(a, 0), brain_at(b, 0))), c);
}

/// c + low product + high product, each step rounded once to the result's 16 bits; manuals leave the order open.
KFDEMU_INLINE float dot2_half(u32 a, u32 b, float c, const Context& x) {
    const auto half = [&x](u32 v) KFDEMU_LAMBDA { return HalfFloat::of(v, x); };
    const float low = HalfFloat::of(HalfFloat::to(fused_half(half(a), half(b), c, x), x), x);
    return fused_half(half(a >> 16), half(b >> 16), low, x);
}
KFDEMU_INLINE u16 dot2_to_brain(u32 a, u32 b, u32 c, const Context&) {
    const float low = fused(brain_at(a, 0), brain_at(b, 0), brain_at(c, 0));
    return brain_of(fused(brain_at(a, 1), brain_at(b, 1), low));
}

/// One 16-bit factor. gfx90a treats denormals as zero regardless of MODE.
KFDEMU_INLINE float dot_factor(u32 half, const Context& x) {
    const u32 denormal = (half & 0x7c00) == 0 ? 0x7fffu : 0;
    return float_of_half(half & 0xffff & ~(denormal & (0u - u32{x.flush_halves})));
}
/// c + a.low * b.low + a.high * b.high, each step rounded once; 32-bit denormals are flushed regardless of MODE. The
/// manual does not define the order of operations, so results may differ from hardware by one rounding.
KFDEMU_INLINE float dot2(u32 a, u32 b, float c, const Context& x) {
    const float low = fused(dot_factor(a, x), dot_factor(b, x), flush(c, true));
    return flush(fused(dot_factor(a >> 16, x), dot_factor(b >> 16, x), low), true);
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
