// Communication between lanes, against a model of a wave: for every type, in both languages, with some lanes inactive.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/shared/kernel_device.hpp"
#include "tests/shared/kernels/wave_rows.h"

using namespace hsadrv;

namespace {

constexpr std::size_t waves = 3;

const std::uint64_t some_active_lanes[] = {
    ~0ull,
    1ull,
    1ull << 63,
    0x5555555555555555ull,
    0xffffffffull,
    0xffffffff00000000ull,
    0x7fffffffffffffffull,
    0xfffffffffffffffeull,
    0x0123456789abcdefull,
    0x8000800080008000ull,
};

/// A wave of the kernel's width.
struct Wave {
    std::size_t size;

    explicit Wave(const Kernel& kernel) : size(kernel.metadata().wavefront_size) {}
    std::size_t first(std::size_t i) const { return i / size * size; }
    bool active(std::uint64_t lanes, std::size_t i) const { return lanes >> (i % size) & 1; }
    /// Some of its lanes, from some of 64.
    std::uint64_t some(std::uint64_t lanes) const { return size == 64 ? lanes : (lanes | lanes >> 32) & 0xffffffff; }
};

/// Small integers, so that floats are exact in any order; some negative for signed types.
template <class T>
std::vector<T> some_values(std::size_t n, std::uint32_t seed) {
    std::vector<T> values(n);
    for (T& value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<T>(static_cast<std::int32_t>(seed) >> 20);
    }
    return values;
}

/// The lanes of i's wave that are active and not above it: those that a scan includes.
template <class T, class Operation>
T fold(Wave wave, const std::vector<T>& values, std::uint64_t lanes, std::size_t first, std::size_t end, T start,
       Operation operation) {
    for (std::size_t i = first; i < end; ++i) {
        if (wave.active(lanes, i)) start = operation(start, values[i]);
    }
    return start;
}

template <class T>
std::vector<T> expected_rows(Wave wave, const std::vector<T>& x, std::uint64_t lanes, std::size_t rows, T untouched) {
    const std::size_t n = x.size();
    std::vector<T> out(rows * n, untouched);
    const T lowest =
        std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    const T highest =
        std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    const auto add = [](T a, T b) { return static_cast<T>(a + b); };
    const auto min = [](T a, T b) { return std::min(a, b); };
    const auto max = [](T a, T b) { return std::max(a, b); };
    for (std::size_t i = 0; i < n; ++i) {
        if (!wave.active(lanes, i)) continue;
        const std::size_t first = wave.first(i), end = first + wave.size;
        const auto set = [&](int row, T value) { out[static_cast<std::size_t>(row) * n + i] = value; };
        set(row_reduce_add, fold(wave, x, lanes, first, end, T(0), add));
        set(row_reduce_min, fold(wave, x, lanes, first, end, highest, min));
        set(row_reduce_max, fold(wave, x, lanes, first, end, lowest, max));
        set(row_inclusive_add, fold(wave, x, lanes, first, i + 1, T(0), add));
        set(row_inclusive_min, fold(wave, x, lanes, first, i + 1, highest, min));
        set(row_inclusive_max, fold(wave, x, lanes, first, i + 1, lowest, max));
        set(row_exclusive_add, fold(wave, x, lanes, first, i, T(0), add));
        set(row_exclusive_min, fold(wave, x, lanes, first, i, highest, min));
        set(row_exclusive_max, fold(wave, x, lanes, first, i, lowest, max));
        if constexpr (std::is_integral_v<T>) {
            set(row_reduce_and,
                fold(wave, x, lanes, first, end, static_cast<T>(~T(0)), [](T a, T b) { return a & b; }));
            set(row_reduce_or, fold(wave, x, lanes, first, end, T(0), [](T a, T b) { return a | b; }));
            set(row_reduce_xor, fold(wave, x, lanes, first, end, T(0), [](T a, T b) { return a ^ b; }));
        }
    }
    return out;
}

template <class T>
void reductions_agree(Device& device, const std::string& source, const std::string& level, const char* name) {
    const std::size_t rows = std::is_integral_v<T> ? integer_rows : ordered_rows;
    const Kernel kernel = device.kernel(source, level, name);
    const Wave wave{kernel};
    const std::size_t n = waves * wave.size;
    for (const std::uint64_t some : some_active_lanes) {
        const std::uint64_t lanes = wave.some(some);
        CAPTURE(name, lanes);
        const std::vector<T> x = some_values<T>(n, static_cast<std::uint32_t>(lanes)), untouched(rows * n, T(99));
        auto d_in = to_device(x, device.stream);
        auto d_out = to_device(untouched, device.stream);
        kernel.launch(device.stream, {.grid = n, .workgroup = wave.size}, d_in, d_out, lanes);
        CHECK(d_out.template copy_to_host<T>(device.stream) == expected_rows<T>(wave, x, lanes, rows, T(99)));
    }
}

template <class T>
void permutes_agree(Device& device, const std::string& source, const std::string& level, const char* name) {
    CAPTURE(name);
    const Kernel kernel = device.kernel(source, level, name);
    const std::size_t wave = kernel.metadata().wavefront_size;
    const std::vector<T> x = some_values<T>(wave, 7);
    const T identity = T(-5);
    auto d_in = to_device(x, device.stream);
    auto d_out = device_array<T>(wave * permute_rows * wave, device.stream);
    kernel.launch(device.stream, {.grid = wave, .workgroup = wave}, d_in, d_out, identity);

    std::vector<T> expected(wave * permute_rows * wave);
    for (std::size_t shift = 0; shift < wave; ++shift) {
        T* rows = &expected[shift * permute_rows * wave];
        for (std::size_t lane = 0; lane < wave; ++lane) {
            rows[row_permute * wave + (lane + shift) % wave] = x[lane];
            rows[row_bpermute * wave + lane] = x[(lane + shift) % wave];
            rows[row_activelanepermute * wave + lane] = lane % 3 == 0 ? identity : x[(lane + shift) % wave];
        }
    }
    CHECK(d_out.template copy_to_host<T>(device.stream) == expected);
}

}  // namespace

TEST_CASE("reductions and scans include exactly the active lanes", "[wave]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "wave_cpp", "wave_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    reductions_agree<std::int32_t>(device, source, level, "reductions_i32");
    reductions_agree<std::uint64_t>(device, source, level, "reductions_u64");
    reductions_agree<float>(device, source, level, "reductions_f32");
    reductions_agree<double>(device, source, level, "reductions_f64");
}

namespace {

/// Minima and maxima of some numbers among NaN, of which those in `nan_lanes` are.
template <class T>
void nan_is_passed_over(Device& device, const std::string& source, const std::string& level, const char* name) {
    const Kernel kernel = device.kernel(source, level, name);
    const Wave wave{kernel};
    const std::size_t n = waves * wave.size;
    using Limits = std::numeric_limits<T>;
    for (const T nan : {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN()}) {
        for (const std::uint64_t nan_lanes : {1ull, 1ull << 63, 0x5555555555555555ull, ~1ull, ~(1ull << 63), ~0ull}) {
            for (const std::uint64_t some : {~0ull, 0x0ff0f00f12345678ull}) {
                const std::uint64_t lanes = wave.some(some);
                CAPTURE(name, nan_lanes, lanes);
                std::vector<T> x = some_values<T>(n, static_cast<std::uint32_t>(nan_lanes));
                for (std::size_t i = 0; i < n; ++i)
                    if (wave.active(nan_lanes, i)) std::memcpy(&x[i], &nan, sizeof nan);
                auto d_in = to_device(x, device.stream);
                auto d_out = to_device(std::vector<T>(ordered_rows * n, T(99)), device.stream);
                kernel.launch(device.stream, {.grid = n, .workgroup = wave.size}, d_in, d_out, lanes);
                const std::vector<T> out = d_out.template copy_to_host<T>(device.stream);
                const auto numbers = [&](std::size_t first, std::size_t end, T start, auto better) {
                    for (std::size_t i = first; i < end; ++i)
                        if (wave.active(lanes, i) && !wave.active(nan_lanes, i) && better(x[i], start)) start = x[i];
                    return start;
                };
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    if (!wave.active(lanes, i)) continue;
                    const std::size_t first = wave.first(i);
                    const auto check = [&](int row, T expected) {
                        wrong += out[static_cast<std::size_t>(row) * n + i] != expected;
                    };
                    const T least = Limits::infinity(), most = -Limits::infinity();
                    check(row_reduce_min, numbers(first, first + wave.size, least, std::less<>()));
                    check(row_reduce_max, numbers(first, first + wave.size, most, std::greater<>()));
                    check(row_inclusive_min, numbers(first, i + 1, least, std::less<>()));
                    check(row_inclusive_max, numbers(first, i + 1, most, std::greater<>()));
                    check(row_exclusive_min, numbers(first, i, least, std::less<>()));
                    check(row_exclusive_max, numbers(first, i, most, std::greater<>()));
                }
                CHECK(wrong == 0);
            }
        }
    }
}

}  // namespace

TEST_CASE("minima and maxima ignore NaN in any lane", "[wave]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "wave_cpp", "wave_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    nan_is_passed_over<float>(device, source, level, "reductions_f32");
    nan_is_passed_over<double>(device, source, level, "reductions_f64");
}

TEST_CASE("permutes move all lanes by all shifts, forward and back", "[wave]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "wave_cpp", "wave_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    permutes_agree<std::uint32_t>(device, source, level, "permutes_u32");
    permutes_agree<double>(device, source, level, "permutes_f64");
}

TEST_CASE("lanes get their index, the active lanes, votes and each other's values", "[wave]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "wave_cpp", "wave_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    const auto kernel = device.kernel(source, level, "lanes");
    const Wave wave{kernel};
    const std::size_t n = waves * wave.size;
    std::vector<std::uint32_t> x = some_values<std::uint32_t>(n, 3);
    for (std::size_t i = wave.size; i < 2 * wave.size; ++i) x[i] = 3 * static_cast<std::uint32_t>(i);  // all vote yes
    for (std::size_t i = 2 * wave.size; i < n; ++i) x[i] = 3 * static_cast<std::uint32_t>(i) + 1;      // all vote no
    for (const std::uint64_t some : some_active_lanes) {
        const std::uint64_t lanes = wave.some(some);
        CAPTURE(source, level, lanes);
        std::vector<std::uint64_t> expected(lane_rows * n, 99);
        auto d_in = to_device(x, device.stream);
        auto d_out = to_device(expected, device.stream);
        kernel.launch(device.stream, {.grid = n, .workgroup = wave.size}, d_in, d_out, lanes);
        const auto twice = [&](std::size_t i) { return std::uint64_t{x[i]} << 32 | x[i]; };
        for (std::size_t i = 0; i < n; ++i) {
            if (!wave.active(lanes, i)) continue;
            const std::size_t first = wave.first(i);
            std::uint64_t ballot = 0;
            for (std::size_t lane = 0; lane < wave.size; ++lane) {
                if (wave.active(lanes, lane) && x[first + lane] % 3 == 0) ballot |= 1ull << lane;
            }
            const auto set = [&](std::size_t row, std::uint64_t value) { expected[row * n + i] = value; };
            set(row_lane_id, i % wave.size);
            set(row_ballot, ballot);
            set(row_active, lanes);
            set(row_any, ballot != 0);
            set(row_all, ballot == lanes);
            set(row_first, twice(first + static_cast<std::size_t>(std::countr_zero(lanes))));
            for (std::size_t lane = 0; lane < wave.size; ++lane) {
                set(row_broadcasts + lane, wave.active(lanes, lane) ? twice(first + lane) : 0);
            }
        }
        CHECK(d_out.copy_to_host<std::uint64_t>(device.stream) == expected);
    }
}

TEST_CASE("a wave barrier suffices between the lanes of a wave", "[wave]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "wave_cpp", "wave_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    const Kernel kernel = device.kernel(source, level, "pass_on");
    const std::size_t wave = kernel.metadata().wavefront_size;
    std::vector<std::uint32_t> x(1024), expected;
    std::iota(x.begin(), x.end(), 5u);
    for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(x[i / wave * wave + (i + 5) % wave]);
    auto d_in = to_device(x, device.stream);
    auto d_out = device_array_like(d_in, device.stream);
    kernel.launch(device.stream, {.grid = 1024, .workgroup = 256}, d_in, d_out);
    CHECK(d_out.copy_to_host<std::uint32_t>(device.stream) == expected);
}
