// How undefined bits of operands become undefined bits of results.
//
//     const Bits sum = add({a, undefined_of_a}, {b, undefined_of_b});
//     if (sum.undefined & 0xff) …
//
// Exact for moves, logic, shifts and fields; for sums, exact but for carries that cannot happen; otherwise a result is
// undefined if any bit that it depends on is. Values are up to 64 bits wide; narrower ones have zeros above. Pure.
#pragma once

#include <cstdint>

namespace kfdemu::check {

struct Bits {
    std::uint64_t value = 0;
    std::uint64_t undefined = 0;  ///< one bit for each bit of `value` that was never written

    bool any() const { return undefined != 0; }
    std::uint64_t least() const { return value & ~undefined; }
    std::uint64_t most() const { return value | undefined; }
};

inline constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
constexpr std::uint64_t low_bits(unsigned width) { return width >= 64 ? kAllBits : (std::uint64_t{1} << width) - 1; }

std::int64_t sign_extended(std::uint64_t value, unsigned width);

Bits logical_not(Bits a, unsigned width);
Bits logical_and(Bits a, Bits b);
Bits logical_or(Bits a, Bits b);
Bits logical_xor(Bits a, Bits b);
/// Of numbers of `width` bits; shifts use the distance modulo the width.
Bits add(Bits a, Bits b, unsigned width);
Bits subtract(Bits a, Bits b, unsigned width);
Bits shift_left(Bits a, Bits distance, unsigned width);
Bits shift_right(Bits a, Bits distance, unsigned width);
Bits shift_right_signed(Bits a, Bits distance, unsigned width);
Bits select(Bits condition, Bits yes, Bits no);
/// Whether a != 0, a == b, a < b is undefined. a > b and a <= b are as b < a.
bool nonzero_is_undefined(Bits a);
bool equality_is_undefined(Bits a, Bits b);
bool order_is_undefined(Bits a, Bits b, bool is_signed, unsigned width);
/// Whether the carry out of a + b + carry, or the borrow of a - b - carry, is undefined.
/// Of numbers of at most 63 bits.
bool carry_is_undefined(Bits a, Bits b, Bits carry, unsigned width);
bool borrow_is_undefined(Bits a, Bits b, Bits carry);

}  // namespace kfdemu::check
