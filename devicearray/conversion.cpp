#include "devicearray/conversion.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

namespace hsadrv::detail {
namespace {

// Elements pass through a buffer of the widest type of their kind, which holds each of them.
constexpr std::size_t buffered = 256;
using Whole = std::array<std::int64_t, buffered>;
using Natural = std::array<std::uint64_t, buffered>;
using Real = std::array<double, buffered>;
using Complex = std::array<std::complex<double>, buffered>;

/// bfloat16: the upper half of a float.
struct BFloat16 {
    std::uint16_t bits = 0;

    BFloat16() = default;
    explicit BFloat16(double value) noexcept {
        float rounded = static_cast<float>(value);
        if (std::isnan(rounded)) {
            bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded) >> 16 | 0x40);
            return;
        }
        // Rounded to odd first, so that the second rounding does not err on a tie of the first.
        std::uint32_t word = std::bit_cast<std::uint32_t>(rounded);
        if (static_cast<double>(rounded) != value && std::isfinite(rounded)) {
            if (std::fabs(static_cast<double>(rounded)) > std::fabs(value)) --word;
            word |= 1;
        }
        bits = static_cast<std::uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
    }
    explicit operator double() const noexcept {
        return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
    }
};

/// IEEE 754 binary16, without relying on the compiler's type.
struct Float16 {
    std::uint16_t bits = 0;

    Float16() = default;
    explicit Float16(double value) noexcept {
        const std::uint64_t word = std::bit_cast<std::uint64_t>(value);
        const auto sign = static_cast<std::uint16_t>(word >> 48 & 0x8000);
        const double magnitude = std::fabs(value);
        if (std::isnan(value)) {
            bits = static_cast<std::uint16_t>(sign | 0x7e00 | (word >> 42 & 0x1ff));
        } else if (magnitude >= 65520) {
            bits = static_cast<std::uint16_t>(sign | 0x7c00);
        } else if (magnitude < 0x1p-14) {  // subnormal: a multiple of 2^-24
            bits = static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24)));
        } else {
            const std::uint64_t half = (std::uint64_t{1} << 41) - 1 + (word >> 42 & 1);
            const std::uint64_t rounded = (word & ~(std::uint64_t{1} << 63)) + half;
            bits = static_cast<std::uint16_t>(sign | ((rounded >> 42) - (std::uint64_t{1023 - 15} << 10)));
        }
    }
    explicit operator double() const noexcept {
        const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
        const int exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
        if (exponent == 31) {
            const std::uint64_t word =
                std::uint64_t{bits & 0x8000u} << 48 | std::uint64_t{0x7ff} << 52 | std::uint64_t(mantissa) << 42;
            return std::bit_cast<double>(word);
        }
        return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
    }
};

/// Truncated; out of range: the lowest number.
std::int64_t whole_of(double value) noexcept {
    if (value >= -0x1p63 && value < 0x1p63) return static_cast<std::int64_t>(value);
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
    return std::numeric_limits<std::int64_t>::min();
}

template <class To, class From>
To converted(const From& value) noexcept {
    if constexpr (std::is_same_v<From, std::complex<double>>) {
        if constexpr (std::is_same_v<To, bool>)
            return value.real() != 0 || value.imag() != 0;
        else if constexpr (std::is_same_v<To, std::complex<float>> || std::is_same_v<To, std::complex<double>>)
            return To(value);
        else
            return converted<To>(value.real());
    } else if constexpr (std::is_same_v<To, bool>) {
        return value != 0;
    } else if constexpr (std::is_same_v<To, std::complex<float>> || std::is_same_v<To, std::complex<double>>) {
        return To(static_cast<typename To::value_type>(value), 0);
    } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
        return To(static_cast<double>(value));
    } else if constexpr (std::is_integral_v<To> && std::is_same_v<From, double>) {
        return static_cast<To>(whole_of(value));
    } else {
        return static_cast<To>(value);
    }
}

/// A row of elements, each `stride` bytes after the one before.
struct Row {
    std::byte* first;
    std::int64_t stride;
    std::size_t count;
};

template <class From, class Buffer>
void load(const Row& row, Buffer& buffer) noexcept {
    for (std::size_t i = 0; i < row.count; ++i) {
        From value;
        std::memcpy(&value, row.first + static_cast<std::int64_t>(i) * row.stride, sizeof value);
        buffer[i] = static_cast<typename Buffer::value_type>(value);
    }
}

template <class To, class Buffer>
void store(const Row& row, const Buffer& buffer) noexcept {
    for (std::size_t i = 0; i < row.count; ++i) {
        const To value = converted<To>(buffer[i]);
        std::memcpy(row.first + static_cast<std::int64_t>(i) * row.stride, &value, sizeof value);
    }
}

template <class Buffer>
void store(const DType& to, const Row& row, const Buffer& buffer) noexcept {
    switch (to.kind()) {
        case Kind::boolean:
            return store<bool>(row, buffer);
        case Kind::signed_integer:
        case Kind::unsigned_integer:  // wraps either way
            switch (to.itemsize()) {
                case 1:
                    return store<std::uint8_t>(row, buffer);
                case 2:
                    return store<std::uint16_t>(row, buffer);
                case 4:
                    return store<std::uint32_t>(row, buffer);
                default:
                    return store<std::uint64_t>(row, buffer);
            }
        case Kind::brain_floating:
            return store<BFloat16>(row, buffer);
        case Kind::floating:
            switch (to.itemsize()) {
                case 2:
                    return store<Float16>(row, buffer);
                case 4:
                    return store<float>(row, buffer);
                default:
                    return store<double>(row, buffer);
            }
        default:
            return to.itemsize() == 8 ? store<std::complex<float>>(row, buffer)
                                      : store<std::complex<double>>(row, buffer);
    }
}

template <class Buffer, class... From>
void move_row(const DType& to, const Row& to_row, std::size_t size, const Row& from_row) noexcept {
    Buffer buffer;
    static_cast<void>(((size == sizeof(From) ? (load<From>(from_row, buffer), true) : false) || ...));
    store(to, to_row, buffer);
}

void convert_row(const DType& to, const Row& to_row, const DType& from, const Row& from_row) noexcept {
    const std::size_t size = from.itemsize();
    switch (from.kind()) {
        case Kind::boolean:
        case Kind::unsigned_integer:
            return move_row<Natural, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(to, to_row, size,
                                                                                                from_row);
        case Kind::signed_integer:
            return move_row<Whole, std::int8_t, std::int16_t, std::int32_t, std::int64_t>(to, to_row, size, from_row);
        case Kind::brain_floating:
            return move_row<Real, BFloat16>(to, to_row, size, from_row);
        case Kind::floating:
            return move_row<Real, Float16, float, double>(to, to_row, size, from_row);
        default:
            return move_row<Complex, std::complex<float>, std::complex<double>>(to, to_row, size, from_row);
    }
}

/// Those that have a conversion.
bool is_number(const DType& type) {
    return type.is_scalar() && (!type.is_extension() || type.kind() == Kind::brain_floating);
}

/// Booleans, unsigned and signed integers, floating-point and complex numbers.
int rank_of(const DType& type) {
    switch (type.kind()) {
        case Kind::boolean:
            return 0;
        case Kind::unsigned_integer:
            return 1;
        case Kind::signed_integer:
            return 2;
        case Kind::complex:
            return 4;
        default:
            return 3;
    }
}

/// Bytes of a floating-point number that holds every number of the type; NumPy's int64 and uint64 take eight.
std::size_t float_bytes(const DType& type) {
    switch (rank_of(type)) {
        case 0:
            return 2;
        case 1:
        case 2:
            return std::min<std::size_t>(2 * type.itemsize(), 8);
        case 3:
            return type.kind() == Kind::brain_floating ? 4 : type.itemsize();
        default:
            return type.itemsize() / 2;
    }
}

bool is_safe(const DType& from, const DType& to) {
    const int a = rank_of(from), b = rank_of(to);
    if (a > b) return false;
    if (a == 0) return true;
    if (b <= 2) return a == b ? from.itemsize() <= to.itemsize() : from.itemsize() < to.itemsize();
    if (to.kind() == Kind::brain_floating) return from.itemsize() == 1 && a < 3;
    return float_bytes(from) <= (b == 4 ? to.itemsize() / 2 : to.itemsize());
}

}  // namespace

bool can_cast(const DType& from, const DType& to, Casting casting) {
    if (from == to) return true;
    if (casting == Casting::no || !is_number(from) || !is_number(to)) return false;
    if (casting == Casting::unsafe || is_safe(from, to)) return true;
    return casting == Casting::same_kind && rank_of(from) <= rank_of(to);
}

void convert(const Elements& to, const Elements& from) noexcept {
    if (to.layout.size() == 0) return;
    const int rank = to.layout.rank();
    const auto at = [](const Elements& side, const std::int64_t* index, int axes) {
        auto* address = static_cast<std::byte*>(side.data);
        for (int i = 0; i < axes; ++i) address += index[i] * side.layout.strides_bytes()[i];
        return address;
    };
    const std::int64_t row = rank == 0 ? 1 : to.layout.shape()[rank - 1];
    const std::int64_t to_stride = rank == 0 ? 0 : to.layout.strides_bytes()[rank - 1];
    const std::int64_t from_stride = rank == 0 ? 0 : from.layout.strides_bytes()[rank - 1];
    std::array<std::int64_t, Dims::max_rank> index{};
    for (;;) {
        std::byte *const to_row = at(to, index.data(), rank - 1), *const from_row = at(from, index.data(), rank - 1);
        for (std::int64_t done = 0; done < row; done += static_cast<std::int64_t>(buffered)) {
            const auto count = static_cast<std::size_t>(std::min<std::int64_t>(row - done, buffered));
            convert_row(to.dtype, {to_row + done * to_stride, to_stride, count}, from.dtype,
                        {from_row + done * from_stride, from_stride, count});
        }
        int axis = rank - 2;
        for (; axis >= 0; --axis) {
            if (++index[static_cast<std::size_t>(axis)] < to.layout.shape()[axis]) break;
            index[static_cast<std::size_t>(axis)] = 0;
        }
        if (axis < 0) return;
    }
}

}  // namespace hsadrv::detail
