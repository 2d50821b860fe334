// Factors of products of tiles (WMMA), and numbers in their types.
//
//     m.put_packed(8, lane, k, 16, half_code(left(row, k)));
//
// Thread safety: pure functions.
#pragma once

#include <cmath>
#include <cstdlib>

#include "tests/kfdemu/isa/machine.hpp"

namespace test_isa {

/// A factor of row or column `n` at depth k; small, so that sums are exact.
inline int left(unsigned n, unsigned k) { return static_cast<int>((n * 5 + k * 3) % 7) - 3; }
inline int right(unsigned n, unsigned k) { return static_cast<int>((n * 3 + k * 2) % 5) - 2; }

inline u32 half_code(int n) {
    constexpr u32 codes[] = {0, 0x3c00, 0x4000, 0x4200};
    return codes[std::abs(n)] | (n < 0 ? 0x8000 : 0);
}
inline double value_of_half(u32 half) {
    const int exponent = half >> 10 & 31;
    const double size = exponent == 0 ? 0 : std::ldexp(1024 + (half & 1023), exponent - 25);
    return (half & 0x8000) != 0 ? -size : size;
}
inline u32 brain_code(int n) { return bits(static_cast<float>(n)) >> 16; }
inline u32 integer_code(int n) { return static_cast<u32>(n); }

}  // namespace test_isa
