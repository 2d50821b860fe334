// Concurrent atomics of all work-items give the result of sequential ones.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/shared/kernel_device.hpp"
#include "tests/shared/kernels/atomic_rows.h"

using namespace hsadrv;

namespace {

constexpr std::size_t group = 256, grid = 1024;

template <class T>
struct Slots {
    std::vector<T> before = std::vector<T>(atomic_rows);

    explicit Slots(T offset) {
        before[atomic_row_sub] = T(1000);
        before[atomic_row_min] = std::numeric_limits<T>::max();
        before[atomic_row_max] = std::numeric_limits<T>::lowest();
        before[atomic_row_and] = static_cast<T>(~T(0));
        before[atomic_row_xor] = T(0x5a5a5a5a);
        before[atomic_row_exchange] = T(17) + offset;
        before[atomic_row_exchange_sum] = T(23);
        before[atomic_row_compare_exchange] = T(5);
    }

    /// The results of `count` work-items with values first, first + 1, ….
    void check(const std::vector<T>& after, T first, std::size_t count) const {
        std::vector<T> expected = before;
        for (std::size_t i = 0; i < count; ++i) {
            const T value = static_cast<T>(first + static_cast<T>(i));
            const auto bits = static_cast<std::uint32_t>(value);
            expected[atomic_row_add] += 1;
            expected[atomic_row_sub] = static_cast<T>(expected[atomic_row_sub] - value);
            expected[atomic_row_min] = std::min(expected[atomic_row_min], value);
            expected[atomic_row_max] = std::max(expected[atomic_row_max], value);
            expected[atomic_row_and] &= static_cast<T>(~(T(1) << (bits % 23)));
            expected[atomic_row_or] |= T(1) << (bits % 29);
            expected[atomic_row_xor] ^= value;
            expected[atomic_row_compare_exchange] += 3;
        }
        // The last value is unspecified; the sums show that none was lost.
        const T left = after[atomic_row_exchange];
        CHECK(static_cast<T>(left - first) < static_cast<T>(count));
        expected[atomic_row_exchange] = left;
        expected[atomic_row_exchange_sum] =
            static_cast<T>(before[atomic_row_exchange_sum] + left - before[atomic_row_exchange]);
        CHECK(after == expected);
    }
};

template <class T>
void atomics_agree(Device& device, const std::string& source, const std::string& level, const char* name, T first) {
    CAPTURE(name);
    const Slots<T> lds(T(1)), global(T(2));
    std::vector<T> lds_slots = lds.before;
    lds_slots.resize(2 * atomic_rows);
    auto d_lds = to_device(lds_slots, device.stream);
    auto d_global = to_device(global.before, device.stream);
    auto d_given_back = to_device(std::vector<T>(2 * grid), device.stream);
    device.kernel(source, level, name)
        .launch(device.stream, {.grid = grid, .workgroup = group}, d_global, d_lds, d_given_back, first);
    lds_slots = d_lds.template copy_to_host<T>(device.stream);
    lds.check({lds_slots.begin() + atomic_rows, lds_slots.end()}, first, group);
    global.check(d_global.template copy_to_host<T>(device.stream), first, grid);

    const std::vector<T> given_back = d_given_back.template copy_to_host<T>(device.stream);
    std::vector<T> expected(2 * grid);
    std::iota(expected.begin(), expected.begin() + group, T(1));
    std::iota(expected.begin() + grid, expected.end(), T(1));
    CHECK(given_back == expected);
}

template <class T>
void float_atomics_agree(Device& device, const std::string& source, const std::string& level, const char* name) {
    CAPTURE(name);
    auto d_sums = to_device(std::vector<T>(6), device.stream);
    auto d_exchanged = to_device(std::vector<T>(2), device.stream);
    device.kernel(source, level, name).launch(device.stream, {.grid = grid, .workgroup = group}, d_sums, d_exchanged);
    T sum = 0;
    for (std::size_t i = 0; i < group; ++i) sum += static_cast<T>(i % 7) - 3;
    const T groups = grid / group;
    const auto sums = d_sums.template copy_to_host<T>(device.stream);
    const auto exchanged = d_exchanged.template copy_to_host<T>(device.stream);
    CHECK(sums == std::vector<T>{groups * sum, groups * sum, T(grid * (grid - 1) / 2), T(grid), sum, -sum});
    CHECK(exchanged[0] == exchanged[1]);
    CHECK(std::abs(exchanged[1]) <= 3);
}

}  // namespace

TEST_CASE("integer atomics lose no update, in LDS and in global memory", "[atomics]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "atomics_cpp", "atomics_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    atomics_agree<std::uint32_t>(device, source, level, "atomics_u32", 0x7fffff80u);
    atomics_agree<std::int32_t>(device, source, level, "atomics_i32", -100);
    atomics_agree<std::uint64_t>(device, source, level, "atomics_u64", 0xffffff80ull);
    atomics_agree<std::int64_t>(device, source, level, "atomics_i64", -100);
}

TEST_CASE("floating-point additions lose no update, by the target's instruction or by a loop", "[atomics]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "atomics_cpp", "atomics_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    float_atomics_agree<float>(device, source, level, "atomics_f32");
    float_atomics_agree<double>(device, source, level, "atomics_f64");
}
