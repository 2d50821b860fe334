// 16-bit float instructions, one lane, on floats that hold 16-bit values.
//
// Compiled for each executor, in its namespace.
#pragma once

#include "tools/kfdemu/isa/execution/transcendental.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// BF16, to nearest even.
KFDEMU_INLINE u16 brain_of(float v) {
    const u32 raw = bits<u32>(v);
    const u32 rounded = (raw + 0x7fff + (raw >> 16 & 1)) >> 16;
    return static_cast<u16>(is_nan(v) ? raw >> 16 | 0x40 : rounded);
}
KFDEMU_INLINE float brain_at(u32 v, unsigned n) { return bits<float>(n == 0 ? v << 16 : v & 0xffff0000); }
KFDEMU_INLINE float half_at(u32 v, unsigned n) { return float_of_half(v >> 16 * n & 0xffff); }

// Loading a half keeps its signalling bit, so the float rules apply; denormals have been flushed by then if MODE says
// so.
KFDEMU_INLINE float min_half(float a, float b, const Context& x) { return extreme<float, false>(a, b, x, false); }
KFDEMU_INLINE float max_half(float a, float b, const Context& x) { return extreme<float, true>(a, b, x, false); }
KFDEMU_INLINE float least_half(float a, float b) { return kept_extreme<float, false>(a, b, false); }
KFDEMU_INLINE float greatest_half(float a, float b) { return kept_extreme<float, true>(a, b, false); }
KFDEMU_INLINE float med3_half(float a, float b, float c, const Context& x) {
    const float low = min_half(a, b, x), high = max_half(a, b, x), greatest = max_half(high, c, x);
    const float middle = greatest == a ? max_half(b, c, x) : greatest == b ? max_half(a, c, x) : high;
    return either(is_nan(a), is_nan(b), is_nan(c)) ? min_half(low, c, x) : middle;
}
/// Bounds n so that the product fits in a float; rounding to 16 bits then still detects overflow and underflow.
KFDEMU_INLINE float load_exponent_half(float v, i32 n) { return load_exponent(v, n > 60 ? 60 : n < -60 ? -60 : n); }
KFDEMU_INLINE float div_fixup_half(float s0, float s1, float s2) {
    const bool negative = is_negative(s1) != is_negative(s2);
    const bool invalid = either(both(s1 == 0, s2 == 0), both(is_infinite(s1), is_infinite(s2)));
    const bool overflow = either(s1 == 0, is_infinite(s2)), underflow = either(s2 == 0, is_infinite(s1));
    const float number = with_sign(overflow ? __builtin_inff() : underflow ? 0.0f : s0, negative);
    return is_nan(s2) ? quieted(s2) : is_nan(s1) ? quieted(s1) : invalid ? bits<float>(0xffc00000u) : number;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
