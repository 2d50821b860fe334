// Floats of 4, 6 and 8 bits, one lane. FP8 (E4M3) and BF8 (E5M2) as GFX940 has them: one NaN, 0x80, no infinities and
// no -0 (AMD's MI300 ISA manual, V_CVT_PK_FP8_F32 and following; LLVM's E4M3FNUZ and E5M2FNUZ); and as gfx950 has them
// (MI350 ISA manual, V_CVT_SCALEF32_PK_FP8_F32 and following; OCP Microscaling Formats 1.0).
//
// Compiled for each executor, in its namespace.
#pragma once

#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"

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

/// What a number that is too large becomes; the format has none of what follows it here.
enum class Beyond { Infinity, Nan, Greatest };

/// Floats of at most 16 bits with a sign, -0 and denormals: those of the Open Compute Project, from gfx950 on, and IEEE
/// 754's of 16 bits. FP8 has one NaN of each sign and no infinities; FP6, BF6 and FP4 have numbers alone.
template <unsigned exponent, unsigned mantissa, Beyond beyond>
struct PackedFloat {
    static constexpr unsigned width = 1 + exponent + mantissa, bias = (1u << (exponent - 1)) - 1;
    static constexpr u32 sign = 1u << (width - 1), all = sign - 1, infinity = all >> mantissa << mantissa;
    static constexpr u32 most = beyond == Beyond::Infinity ? infinity - 1 : beyond == Beyond::Nan ? all - 1 : all;

    static KFDEMU_INLINE float of(u32 raw) {
        constexpr unsigned up = 23 - mantissa;
        const u32 magnitude = raw & all;
        const float small =
            static_cast<float>(static_cast<i32>(magnitude)) * bits<float>((127 + 1 - bias - mantissa) << 23);
        const float number = magnitude >> mantissa == 0 ? small : bits<float>((magnitude << up) + ((127 - bias) << 23));
        const bool endless = both(beyond == Beyond::Infinity, magnitude == infinity);
        const u32 word = magnitude <= most ? bits<u32>(number) : endless ? 0x7f800000 : 0x7fc00000;
        return bits<float>(word | (raw & sign) << (32 - width));
    }

    /// To nearest even; or with the upper bits of a random number added below the last place, and then cut off. What is
    /// too large saturates with FP16_OVFL. Of NaN, the manual does not say what a format without it gets: the greatest
    /// number.
    static KFDEMU_INLINE u32 from(double v, bool nearest, u32 random, const Context& x) {
        constexpr i32 least = 1 - static_cast<i32>(bias);
        constexpr u32 up = 52 - mantissa;
        const u64 raw = bits<u64>(v) & ~(u64{1} << 63);
        const i32 e = static_cast<i32>(raw >> 52) - 1023;
        const u32 below = e < least ? static_cast<u32>(least - e) : 0;
        const u32 shift = up + (below > 63 - up ? 63 - up : below);
        const u64 whole = raw >> 52 == 0 ? 0 : (raw & 0xfffffffffffff) | 0x10000000000000;
        const u64 added =
            nearest ? (u64{1} << (shift - 1)) - 1 + (whole >> shift & 1) : u64{random} << 32 >> (64 - shift);
        const u32 rounded = static_cast<u32>((whole + added) >> shift);
        const u32 number = e < least ? rounded : rounded + (static_cast<u32>(e - least) << mantissa);
        constexpr u32 above = beyond == Beyond::Infinity ? infinity : beyond == Beyond::Nan ? all : most;
        constexpr u32 quiet = 1u << (mantissa - 1);
        const u32 payload = infinity | quiet | (static_cast<u32>(raw >> up) & (quiet - 1));
        const u32 nan = beyond == Beyond::Greatest ? most : width == 8 ? all : payload;
        const u32 bounded = number <= most ? number : (x.round_f64 & 4) != 0 ? most : above;
        const u32 special = raw > 0x7ff0000000000000 ? nan : above;
        return (raw >= 0x7ff0000000000000 ? special : bounded) | (bits<u64>(v) >> 63 != 0 ? sign : 0);
    }
    static KFDEMU_INLINE u32 from(float v, const Context& x) { return from(static_cast<double>(v), true, 0, x); }
};
using OcpFp8Float = PackedFloat<4, 3, Beyond::Nan>;
using OcpBf8Float = PackedFloat<5, 2, Beyond::Infinity>;
using Fp6Float = PackedFloat<2, 3, Beyond::Greatest>;
using Bf6Float = PackedFloat<3, 2, Beyond::Greatest>;
using Fp4Float = PackedFloat<2, 1, Beyond::Greatest>;
using HalfCode = PackedFloat<5, 10, Beyond::Infinity>;
using BrainCode = PackedFloat<8, 7, Beyond::Infinity>;

/// E8M0, the exponent of a float: 2^(code - 127), or NaN.
KFDEMU_INLINE double scale_of(u32 code) {
    return bits<double>(code == 255 ? u64{0x7ff8} << 48 : u64{code + 1023 - 127} << 52);
}
KFDEMU_INLINE double inverse_scale(u32 code) {
    return bits<double>(code == 255 ? u64{0x7ff8} << 48 : u64{1023 + 127 - code} << 52);
}
KFDEMU_INLINE u32 scale_code(float v) { return bits<u32>(v) >> 23 & 0xff; }

KFDEMU_INLINE u64 pair_of(float low, float high) { return bits<u32>(low) | u64{bits<u32>(high)} << 32; }

/// The number that V_PRNG_B32 makes of another.
KFDEMU_INLINE u32 next_random(u32 v) { return (v << 1) ^ (v >> 31 != 0 ? 197 : 0); }

// V_CVT_SCALEF32: the exponent of a float scales what is converted: numbers of 4, 6 and 8 bits are multiplied by it,
// others are divided.

template <class F>
KFDEMU_INLINE u32 scaled_down(float v, float scale, const Context& x) {
    return F::from(static_cast<double>(v) * inverse_scale(scale_code(scale)), true, 0, x);
}
template <class F>
KFDEMU_INLINE u32 scaled_down_by(float v, u32 random, float scale, const Context& x) {
    return F::from(static_cast<double>(v) * inverse_scale(scale_code(scale)), false, random, x);
}
template <class F>
KFDEMU_INLINE u16 scaled_pair(float low, float high, float scale, const Context& x) {
    return static_cast<u16>(scaled_down<F>(low, scale, x) | scaled_down<F>(high, scale, x) << F::width);
}
template <class F>
KFDEMU_INLINE u16 scaled_pair_by(float low, float high, u32 random, float scale, const Context& x) {
    const u32 second = scaled_down_by<F>(high, next_random(random), scale, x);
    return static_cast<u16>(scaled_down_by<F>(low, random, scale, x) | second << F::width);
}
template <class F>
KFDEMU_INLINE double scaled_up(u32 raw, float scale) {
    return static_cast<double>(F::of(raw)) * scale_of(scale_code(scale));
}
template <class F>
KFDEMU_INLINE float scaled_float(u32 raw, float scale) {
    return static_cast<float>(scaled_up<F>(raw, scale));
}
template <class F>
KFDEMU_INLINE u32 scaled_half(u32 raw, float scale) {
    return half_of_double(scaled_up<F>(raw, scale), 0);
}
template <class F>
KFDEMU_INLINE u32 scaled_brain(u32 raw, float scale) {
    return brain_of(scaled_float<F>(raw, scale));
}
// Of two numbers, one above the other.
template <class F>
KFDEMU_INLINE u64 scaled_floats(u32 raw, float scale) {
    return pair_of(scaled_float<F>(raw, scale), scaled_float<F>(raw >> F::width, scale));
}
template <class F>
KFDEMU_INLINE u32 scaled_halves(u32 raw, float scale) {
    return pack16(scaled_half<F>(raw, scale), scaled_half<F>(raw >> F::width, scale));
}
template <class F>
KFDEMU_INLINE u32 scaled_brains(u32 raw, float scale) {
    return pack16(scaled_brain<F>(raw, scale), scaled_brain<F>(raw >> F::width, scale));
}

KFDEMU_INLINE float low_float(u64 v) { return bits<float>(static_cast<u32>(v)); }
KFDEMU_INLINE float high_float(u64 v) { return bits<float>(static_cast<u32>(v >> 32)); }
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
template <class F>
KFDEMU_INLINE u32 rounded_up_by(float v, u32 random, const Context& x) {
    return F::from(static_cast<double>(v), false, random, x);
}
KFDEMU_INLINE u32 with_byte(u32 whole, u32 number, u32 byte) {
    return (whole & ~(0xffu << 8 * number)) | byte << 8 * number;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
