// Floats of 8 bits, one lane: FP8 (E4M3) and BF8 (E5M2), as GFX940 has them: one NaN, 0x80, no infinities and no -0
// (AMD's MI300 ISA manual, V_CVT_PK_FP8_F32 and following; LLVM's E4M3FNUZ and E5M2FNUZ).
//
// Compiled for each executor, in its namespace.
#pragma once

#include "tools/kfdemu/isa/execution/float_math.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

inline constexpr u32 kSmallNan = 0x80, kSmallMost = 0x7f;

/// A float of 8 bits with so many bits of mantissa; its exponent's bias is half the number of exponents.
template <unsigned mantissa>
struct SmallFloat {
    static constexpr unsigned exponent = 7 - mantissa, bias = 1u << (exponent - 1), up = 23 - mantissa;

    static KFDEMU_INLINE float of(u32 raw) {
        const u32 magnitude = raw & 0x7f;
        const float small =
            static_cast<float>(static_cast<i32>(magnitude)) * bits<float>((127 + 1 - bias - mantissa) << 23);
        const float number = magnitude >> mantissa == 0 ? small : bits<float>((magnitude << up) + ((127 - bias) << 23));
        const float value = bits<float>(bits<u32>(number) | (raw & 0x80) << 24);
        return (raw & 0xff) == kSmallNan ? bits<float>(0x7fc00000u) : magnitude == 0 ? 0.0f : value;
    }

    /// Rounds to nearest even, or towards zero. What is too large becomes NaN, or with FP16_OVFL the greatest number.
    template <bool nearest = true>
    static KFDEMU_INLINE u32 from(float v, const Context& x) {
        constexpr i32 least = 1 - static_cast<i32>(bias);  // exponent of the smallest normal number
        const u32 raw = bits<u32>(v) & 0x7fffffff;
        const i32 e = static_cast<i32>(raw >> 23) - 127;
        const u32 below = e < least ? static_cast<u32>(least - e) : 0;
        const u32 shift = up + (below > 25 - up ? 25 - up : below);
        const u32 whole = raw >> 23 == 0 ? 0 : (raw & 0x7fffff) | 0x800000;
        const u32 half = nearest ? (1u << (shift - 1)) - 1 + (whole >> shift & 1) : 0;
        const u32 rounded = (whole + half) >> shift;
        const u32 number = e < least ? rounded : rounded + (static_cast<u32>(e - least) << mantissa);
        const u32 bounded = number <= kSmallMost ? number : (x.round_f64 & 4) != 0 ? kSmallMost : kSmallNan;
        const u32 sign = bits<u32>(v) >> 31 << 7;
        return raw >= 0x7f800000 ? kSmallNan : number == 0 ? 0 : bounded | sign;
    }
};
using Fp8Float = SmallFloat<3>;
using Bf8Float = SmallFloat<2>;

KFDEMU_INLINE u64 pair_of(float low, float high) { return bits<u32>(low) | u64{bits<u32>(high)} << 32; }
template <class F>
KFDEMU_INLINE u16 small_pair(float low, float high, const Context& x) {
    return static_cast<u16>(F::from(low, x) | F::from(high, x) << 8);
}
/// Stochastic rounding: the upper bits of a random number are added to the bits that are then cut off. The manual's
/// pseudocode loses the carry out of the mantissa; here it goes into the exponent.
template <class F>
KFDEMU_INLINE u32 rounded_by(float v, u32 random, const Context& x) {
    const u32 raised =
        (bits<u32>(v) & 0x7f800000) == 0x7f800000 ? bits<u32>(v) : bits<u32>(v) + (random >> (32 - F::up));
    return F::template from<false>(bits<float>(raised), x);
}
KFDEMU_INLINE u32 with_byte(u32 whole, u32 number, u32 byte) {
    return (whole & ~(0xffu << 8 * number)) | byte << 8 * number;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
