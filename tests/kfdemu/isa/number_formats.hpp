// Floats of at most 16 bits by their definition, in doubles and by search.
//
//     kFp6.value(0x09) == 1.125
//     kFp6.nearest(1.1, false) == 0x09
//
// Source: OCP Microscaling Formats 1.0; IEEE 754 for 16 bits. Thread safety: pure functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace test_isa {

struct NumberFormat {
    enum class Beyond { Infinity, Nan, Greatest };  ///< what follows the greatest number

    const char* name;
    int exponent, mantissa;
    Beyond beyond;

    unsigned width() const { return static_cast<unsigned>(1 + exponent + mantissa); }
    std::uint32_t sign() const { return 1u << (width() - 1); }
    std::uint32_t most() const {
        const std::uint32_t ones = sign() - 1, infinity = ones >> mantissa << mantissa;
        return beyond == Beyond::Infinity ? infinity - 1 : beyond == Beyond::Nan ? ones - 1 : ones;
    }
    /// The code of what is too large; its value is infinity or NaN.
    std::uint32_t above() const { return beyond == Beyond::Greatest ? most() : most() + 1; }

    double value(std::uint32_t code) const {
        const std::uint32_t size = code & (sign() - 1);
        const int bias = (1 << (exponent - 1)) - 1, e = static_cast<int>(size >> mantissa);
        const int fraction = static_cast<int>(size & ((1u << mantissa) - 1));
        double number = e == 0 ? std::ldexp(fraction, 1 - bias - mantissa)
                               : std::ldexp((1 << mantissa) + fraction, e - bias - mantissa);
        if (size > most())
            number = beyond == Beyond::Infinity && size == most() + 1 ? std::numeric_limits<double>::infinity()
                                                                      : std::numeric_limits<double>::quiet_NaN();
        return (code & sign()) != 0 ? -number : number;
    }

    std::uint32_t nearest(double v, bool saturates) const {
        return converted(v, saturates, [](double part, bool odd) { return part > 0.5 || (part == 0.5 && odd); });
    }
    /// Up if the part of a step that is left and the random number, as a part of 2^32, make a whole one.
    std::uint32_t by_random(double v, std::uint32_t random, bool saturates) const {
        return converted(v, saturates, [=](double part, bool) { return part + std::ldexp(random, -32) >= 1; });
    }

  private:
    template <class Up>
    std::uint32_t converted(double v, bool saturates, Up&& up) const {
        const std::uint32_t minus = std::signbit(v) ? sign() : 0;
        const double size = std::fabs(v);
        if (std::isnan(v)) return 0;  // not asked
        if (std::isinf(v)) return above() | minus;
        std::uint32_t low = 0, high = most();
        while (low < high) {  // the greatest code of at most `size`
            const std::uint32_t middle = (low + high + 1) / 2;
            (value(middle) <= size ? low : high) = value(middle) <= size ? middle : middle - 1;
        }
        const double step = low == most() ? value(low) - value(low - 1) : value(low + 1) - value(low);
        const double part = (size - value(low)) / step;
        if (part >= 1 || up(part, low % 2 != 0)) low = low == most() ? (saturates ? most() : above()) : low + 1;
        return low | minus;
    }
};

inline constexpr NumberFormat kOcpFp8{"fp8", 4, 3, NumberFormat::Beyond::Nan},
    kOcpBf8{"bf8", 5, 2, NumberFormat::Beyond::Infinity}, kFp6{"fp6", 2, 3, NumberFormat::Beyond::Greatest},
    kBf6{"bf6", 3, 2, NumberFormat::Beyond::Greatest}, kFp4{"fp4", 2, 1, NumberFormat::Beyond::Greatest},
    kHalf{"f16", 5, 10, NumberFormat::Beyond::Infinity}, kBrain{"bf16", 8, 7, NumberFormat::Beyond::Infinity};

}  // namespace test_isa
