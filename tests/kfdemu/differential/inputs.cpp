#include "tests/kfdemu/differential/inputs.hpp"

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>

namespace differential {
namespace {

using Generator = std::mt19937_64;

template <class T>
T edge(Generator& random) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
        const T edges[] = {0,
                           1,
                           2,
                           T(0.5),
                           T(1.5),
                           T(2.5),
                           3,
                           10,
                           Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::denorm_min(),
                           Limits::min(),
                           std::nextafter(Limits::min(), T{0}),
                           Limits::max(),
                           Limits::epsilon(),
                           T(1) - Limits::epsilon() / 2,
                           T(2147483648.0),
                           T(4294967296.0),
                           T(9223372036854775808.0),
                           T(1) / Limits::epsilon(),
                           T(1) / Limits::epsilon() + T(1),
                           T(65504),
                           T(65520),
                           T(5.96e-8)};
        const T v = edges[random() % std::size(edges)];
        return random() & 1 ? v : -v;
    } else {
        const T edges[] = {0,
                           1,
                           2,
                           T(-1),
                           T(-2),
                           Limits::max(),
                           Limits::min(),
                           T(Limits::max() - 1),
                           T(Limits::min() + 1),
                           T(T{1} << (sizeof(T) * 8 - 2)),
                           T(0x55),
                           T(0x80),
                           T(0xff),
                           T(sizeof(T) * 8),
                           T(sizeof(T) * 8 - 1)};
        return edges[random() % std::size(edges)];
    }
}

template <class T>
T tame(Generator& random) {
    if constexpr (std::is_floating_point_v<T>) {
        return T(std::int64_t(random() % 2'000'001) - 1'000'000) / T(1000);
    } else {
        return T(random() % (sizeof(T) == 1 ? 100 : 1000));
    }
}

/// Half the values are not far from one another, so that sums, quotients and comparisons are seldom trivial.
template <class T>
T any(Generator& random) {
    const std::uint64_t choice = random() % 8;
    if (choice < 2) return edge<T>(random);
    if (choice < 4) return tame<T>(random);
    const std::uint64_t bits =
        random() >> (choice == 4 && !std::is_floating_point_v<T> ? random() % (sizeof(T) * 8) : 0);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    // Whether an operation quiets a signalling NaN before or after is the compiler's choice.
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
    return value;
}

template <class T>
std::vector<std::byte> make(Values values, std::size_t count, Generator& random) {
    std::vector<std::byte> result(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
        const T v = values == Values::Any ? any<T>(random) : tame<T>(random);
        std::memcpy(result.data() + i * sizeof(T), &v, sizeof v);
    }
    return result;
}

std::vector<std::byte> halves(Values values, std::size_t count, Generator& random) {
    std::vector<std::byte> result(count * 2);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t bits = std::uint16_t(random());
        if (values == Values::Tame || random() % 2)
            bits = half_bits(float(std::int32_t(random() % 20'001) - 10'000) / 512);
        else if (random() % 4 == 0)
            bits = half_bits(edge<float>(random));
        if ((bits & 0x7fff) > 0x7c00) bits = 0x7e00;
        std::memcpy(result.data() + i * 2, &bits, 2);
    }
    return result;
}

}  // namespace

std::vector<std::byte> inputs(Kind kind, Values values, std::size_t count, std::uint64_t seed) {
    Generator random{seed};
    switch (kind) {
        case Kind::U8:
            return make<std::uint8_t>(values, count, random);
        case Kind::I8:
            return make<std::int8_t>(values, count, random);
        case Kind::U16:
            return make<std::uint16_t>(values, count, random);
        case Kind::I16:
            return make<std::int16_t>(values, count, random);
        case Kind::U32:
            return make<std::uint32_t>(values, count, random);
        case Kind::I32:
            return make<std::int32_t>(values, count, random);
        case Kind::U64:
            return make<std::uint64_t>(values, count, random);
        case Kind::I64:
            return make<std::int64_t>(values, count, random);
        case Kind::F16:
            return halves(values, count, random);
        case Kind::F32:
            return make<float>(values, count, random);
        case Kind::F64:
            return make<double>(values, count, random);
    }
    return {};
}

}  // namespace differential
