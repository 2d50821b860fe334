// Parts of math.hpp: an angle's quadrant and remainder, and the polynomials of sine and cosine.
//
// x is n * pi/2 + r with |r| <= pi/4. Below 2^30 the products of n with pi/2, given to 159 bits, are subtracted
// exactly. Above, the part of 2/pi that matters to the remainder is multiplied in integers. Source: M. Payne and R.
// Hanek, "Radian reduction for trigonometric functions" (1983).
#pragma once

#include "math_exponential.hpp"

namespace hsadrv::detail {

inline constexpr double half_pi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
inline constexpr double two_over_pi = 0x1.45f306dc9c883p-1;

struct Angle {
    double high, low;   ///< the remainder, and what its rounding left
    uint32_t quadrant;  ///< modulo 4
};

HSADRV_DEVICE Angle angle_below_2_30(double x) {
    HSADRV_AS_WRITTEN
    const Rounded n = nearest_integer(x * two_over_pi);
    const TwoDoubles first = product_of(n.value, half_pi[0]);
    const TwoDoubles second = product_of(n.value, half_pi[1]);
    const TwoDoubles a = sum_of(x - first.high, -second.high);  // the subtraction is exact: both are close
    const TwoDoubles b = sum_of(a.high, -first.low);
    const double low = fused(-n.value, half_pi[2], a.low + b.low - second.low);
    const TwoDoubles rest = sum_of_ordered(b.high, low);
    return {rest.high, rest.low, static_cast<uint32_t>(n.integer)};
}

/// Bits `begin` to `begin` + 63 of 64 zeros and the binary fraction of 2/pi; `begin` is below 1152.
HSADRV_DEVICE uint64_t bits_of_two_over_pi(uint32_t begin) {
    static constexpr uint64_t words[] = {
        0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
        0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
        0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
        0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
    const uint64_t* const word = words + begin / 64;
    const uint32_t shift = begin % 64;
    return word[0] << shift | word[1] >> 1 >> (63 - shift);
}

/// For finite x of at least 1 in magnitude.
HSADRV_DEVICE Angle angle_by_integers(double x) {
    using Wide = unsigned __int128;
    const auto bits = __builtin_bit_cast(uint64_t, x);
    const uint32_t exponent = bits >> 52 & 0x7ff;
    const uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
    // x = mantissa * 2^(exponent - 1075). Bits of 2/pi whose product with x is a multiple of 4 are left out; the last
    // one taken has the weight 2^-190 in the product.
    const uint32_t begin = exponent - 1075 + 62;
    const Wide low = Wide{mantissa} * bits_of_two_over_pi(begin + 128);
    const Wide middle = Wide{mantissa} * bits_of_two_over_pi(begin + 64) + static_cast<uint64_t>(low >> 64);
    const uint64_t top = mantissa * bits_of_two_over_pi(begin) + static_cast<uint64_t>(middle >> 64);

    // The quadrant is in the two top bits, the fraction of pi/2 in the others, which are rounded to -1/2 … 1/2.
    uint32_t quadrant = top >> 62;
    uint64_t a = top << 2 | static_cast<uint64_t>(middle) >> 62;
    uint64_t b = static_cast<uint64_t>(middle) << 2 | static_cast<uint64_t>(low) >> 62;
    uint64_t c = static_cast<uint64_t>(low) << 2;
    const bool above_half = a >> 63;
    if (above_half) {
        ++quadrant;
        a = ~a;
        b = ~b;
        c = ~c;
    }
    // No double is so close to a multiple of pi/2 that the first 64 bits are zero.
    const uint32_t zeros = a == 0 ? 63 : static_cast<uint32_t>(__builtin_clzll(a));
    const uint64_t first = a << zeros | b >> 1 >> (63 - zeros);
    const uint64_t second = b << zeros | c >> 1 >> (63 - zeros);
    const int scale = -static_cast<int>(zeros);
    const TwoDoubles fraction = {__builtin_amdgcn_ldexp(static_cast<double>(first >> 11), scale - 53),
                                 __builtin_amdgcn_ldexp(static_cast<double>(first << 53 | second >> 11), scale - 117)};
    const TwoDoubles rest = product_of(fraction, {half_pi[0], half_pi[1]});
    const bool negative = above_half != (bits >> 63 != 0);
    return {negative ? -rest.high : rest.high, negative ? -rest.low : rest.low, bits >> 63 ? -quadrant : quadrant};
}

HSADRV_DEVICE Angle angle_of(double x) {
    if (magnitude(x) < 0x1p30) return angle_below_2_30(x);
    if (magnitude(x) < infinity) return angle_by_integers(x);
    return {not_a_number, not_a_number, 0};
}

/// The same with an error of about 2^-50, for x that has single precision.
HSADRV_DEVICE Angle rough_angle_of(double x) {
    if (!(magnitude(x) < 0x1p22)) return angle_of(x);
    const Rounded n = nearest_integer(x * two_over_pi);
    return {fused(-n.value, half_pi[1], fused(-n.value, half_pi[0], x)), 0, static_cast<uint32_t>(n.integer)};
}

/// sin and cos of a remainder: truncated below 2^-60.
HSADRV_DEVICE double sin_of_rest(double r, double low) {
    const double z = r * r;
    const double tail = polynomial(z, -inverse_factorial(3), inverse_factorial(5), -inverse_factorial(7),
                                   inverse_factorial(9), -inverse_factorial(11), inverse_factorial(13),
                                   -inverse_factorial(15), inverse_factorial(17), -inverse_factorial(19));
    return r + fused(r * z, tail, fused(low, -0.5 * z, low));
}
HSADRV_DEVICE double cos_of_rest(double r, double low) {
    HSADRV_AS_WRITTEN
    const double z = r * r;
    const double tail = polynomial(z, inverse_factorial(4), -inverse_factorial(6), inverse_factorial(8),
                                   -inverse_factorial(10), inverse_factorial(12), -inverse_factorial(14),
                                   inverse_factorial(16), -inverse_factorial(18), inverse_factorial(20));
    const double half = 0.5 * z;
    const double one = 1 - half;
    const double lost = (1 - one) - half;
    return one + fused(z * z, tail, fused(-r, low, lost));
}

HSADRV_DEVICE double sin_of(const Angle& angle) {
    const bool swap = angle.quadrant & 1;
    const double value = swap ? cos_of_rest(angle.high, angle.low) : sin_of_rest(angle.high, angle.low);
    return angle.quadrant & 2 ? -value : value;
}
HSADRV_DEVICE double cos_of(const Angle& angle) { return sin_of({angle.high, angle.low, angle.quadrant + 1}); }
HSADRV_DEVICE double tan_of(const Angle& angle) {
    const double sine = sin_of_rest(angle.high, angle.low), cosine = cos_of_rest(angle.high, angle.low);
    return angle.quadrant & 1 ? -cosine / sine : sine / cosine;
}

}  // namespace hsadrv::detail
