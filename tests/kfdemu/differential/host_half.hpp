// Half precision for the host, whose compiler may have none: each operation in single precision, rounded once.
//
//     f16 x = f16(1.5f) * f16(3);
//
// Single precision has more than twice a half's digits and two more, so that rounding twice (to single, then to half)
// is rounding once for +, -, *, / and the square root (Figueroa, "When is double rounding innocuous?").
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace differential {

inline std::uint16_t half_bits(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint16_t sign = std::uint16_t(bits >> 16 & 0x8000);
    if (std::isnan(value)) return sign | 0x7e00;
    const double magnitude = std::fabs(double{value});
    if (magnitude >= 65520) return sign | 0x7c00;
    // In units of the last place: 2^-24 for what is denormal, and 2^-10 of the power of two below.
    const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
    const auto units = std::uint32_t(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    return std::uint16_t(sign + ((exponent + 14) << 10) + units);
}

inline float half_value(std::uint16_t bits) {
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * HUGE_VALF;
    if (exponent == 0) return sign * std::ldexp(float(fraction), -24);
    return sign * std::ldexp(float(fraction + 1024), exponent - 25);
}

class f16 {
  public:
    f16() = default;
    explicit(false) f16(float value) : bits_{half_bits(value)} {}
    operator float() const { return half_value(bits_); }
    f16& operator+=(f16 o) { return *this = f16(float(*this) + float(o)); }
    f16& operator-=(f16 o) { return *this = f16(float(*this) - float(o)); }
    f16& operator*=(f16 o) { return *this = f16(float(*this) * float(o)); }
    friend f16 operator+(f16 x, f16 y) { return x += y; }
    friend f16 operator-(f16 x, f16 y) { return x -= y; }
    friend f16 operator*(f16 x, f16 y) { return x *= y; }
    friend f16 operator/(f16 x, f16 y) { return f16(float(x) / float(y)); }
    f16 operator-() const {
        f16 r = *this;
        r.bits_ ^= 0x8000;
        return r;
    }

  private:
    std::uint16_t bits_;
};
inline f16 square_root(f16 v) { return f16(std::sqrt(float(v))); }

/// Two values side by side, as the packed instructions have them.
template <class T>
struct Pair {
    T x, y;
    T& operator[](int n) { return n == 0 ? x : y; }
    friend Pair operator+(Pair p, Pair q) { return {T(p.x + q.x), T(p.y + q.y)}; }
    friend Pair operator-(Pair p, Pair q) { return {T(p.x - q.x), T(p.y - q.y)}; }
    friend Pair operator*(Pair p, Pair q) {
        if constexpr (std::is_integral_v<T>)
            return {T(1u * p.x * q.x), T(1u * p.y * q.y)};
        else
            return {p.x * q.x, p.y * q.y};
    }
    friend Pair operator<<(Pair p, Pair q) { return {T(p.x << q.x), T(p.y << q.y)}; }
    friend Pair operator>>(Pair p, Pair q) { return {T(p.x >> q.x), T(p.y >> q.y)}; }
    friend Pair operator&(Pair p, Pair q) { return {T(p.x & q.x), T(p.y & q.y)}; }
    friend Pair operator^(Pair p, Pair q) { return {T(p.x ^ q.x), T(p.y ^ q.y)}; }
    Pair operator-() const { return {T(-x), T(-y)}; }
};
using f16x2 = Pair<f16>;
using f32x2 = Pair<float>;
using u16x2 = Pair<std::uint16_t>;
using i16x2 = Pair<std::int16_t>;

}  // namespace differential
