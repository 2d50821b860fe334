#include <cmath>
#include <cstdint>
#include <cstring>

namespace kfdemu::isa {
namespace {

float from_half(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    std::uint32_t bits = 0;
    if (exponent == 0) {
        const float value = std::ldexp(static_cast<float>(fraction), -24);
        return sign != 0 ? -value : value;
    }
    bits = exponent == 31 ? sign | 0x7f800000u | fraction << 13 : sign | (exponent + 112) << 23 | fraction << 13;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// Rounds to nearest even.
std::uint32_t to_half(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u | (magnitude >> 13 & 0x3ff);
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and above round to infinity
    if (magnitude < 0x38800000u) {                        // below 2^-14: denormals are multiples of 2^-24
        float positive;
        std::memcpy(&positive, &magnitude, sizeof positive);
        return sign | static_cast<std::uint32_t>(std::nearbyint(std::ldexp(positive, 24)));
    }
    const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
    return sign | (rounded - (112u << 23)) >> 13;
}

std::uint32_t add_half(std::uint32_t a, std::uint32_t b) {
    // The exact sum of two halves fits in float's 24 bits wherever rounding depends on it, so float adds no second
    // rounding.
    return to_half(from_half(a) + from_half(b));
}

/// Likewise for BF16, which is the upper half of a float. Rounds to nearest even.
std::uint32_t add_brain(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t raw_a = a << 16, raw_b = b << 16;
    float of_a, of_b;
    std::memcpy(&of_a, &raw_a, sizeof of_a);
    std::memcpy(&of_b, &raw_b, sizeof of_b);
    const float sum = of_a + of_b;
    std::uint32_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return bits >> 16 | 0x40u;
    return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}

}  // namespace

std::uint32_t add_packed_half(std::uint32_t a, std::uint32_t b) noexcept {
    return add_half(a & 0xffff, b & 0xffff) | add_half(a >> 16, b >> 16) << 16;
}

std::uint32_t add_packed_brain(std::uint32_t a, std::uint32_t b) noexcept {
    return add_brain(a & 0xffff, b & 0xffff) | add_brain(a >> 16, b >> 16) << 16;
}

}  // namespace kfdemu::isa
