// LDS arrays on a device: host and kernel agree on the offsets, and an index out of range is caught if enabled.
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/shared/kernel_device.hpp"
#include "tests/shared/kernels/random_layouts.hpp"
#include "tests/shared/kernels/transpose_tile.hpp"

using namespace hsadrv;

namespace {

/// Extents of every relevant size: zero, few, many, and beyond 32 bits of bytes.
std::uint32_t some_extent(std::mt19937& random) {
    switch (random() % 8) {
        case 0:
            return 0;
        case 1:
            return 1;
        case 2:
            return static_cast<std::uint32_t>(random());
        default:
            return static_cast<std::uint32_t>(random() % (1u << (random() % 13)));
    }
}

}  // namespace

TEST_CASE("10,000 random layouts are the same on host and device", "[lds][property]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(level);
    constexpr std::uint32_t count = 10000;
    std::mt19937 random(20 + static_cast<unsigned>(test_support::test_seed()));
    std::vector<LayoutOrder> orders(count);
    for (LayoutOrder& order : orders) {
        order = {static_cast<std::uint32_t>(random()), some_extent(random), some_extent(random), some_extent(random),
                 some_extent(random)};
    }
    std::vector<LayoutFacts> expected(count);
    std::size_t overflowed = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        layouts::describe(orders[i], expected[i]);
        overflowed += expected[i].overflowed;
    }
    CHECK(overflowed > count / 100);
    CHECK(overflowed < count / 2);

    const auto* numbers = reinterpret_cast<const std::uint32_t*>(orders.data());
    auto d_orders = to_device(std::vector<std::uint32_t>(numbers, numbers + count * 5), device.stream);
    constexpr std::size_t words = sizeof(LayoutFacts) / sizeof(std::uint32_t);
    auto d_facts = device_array<std::uint32_t>({count, words}, device.stream);
    device.kernel("arrays_cpp", level, "random_layouts")
        .launch(device.stream, {.grid = count, .workgroup = 64}, d_orders, d_facts, count);
    const std::vector<std::uint32_t> facts = d_facts.copy_to_host<std::uint32_t>(device.stream);
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        wrong += std::memcmp(&facts[i * words], &expected[i], sizeof(LayoutFacts)) != 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a padded tile transposes a matrix", "[lds]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(level);
    constexpr std::uint32_t n = 64;
    static_assert(transpose_tile().array<0>().row_pitch() == 17);
    std::vector<float> in(n * n), expected(n * n);
    std::iota(in.begin(), in.end(), 1.0f);
    for (std::uint32_t i = 0; i < n * n; ++i) expected[i % n * n + i / n] = in[i];
    auto d_in = to_device(in, device.stream);
    auto d_out = device_array_like(d_in, device.stream);
    device.kernel("arrays_cpp", level, "transpose")
        .launch(device.stream, {.grid = {n, n}, .workgroup = {tile_size, tile_size}, .lds = transpose_tile()}, d_in,
                d_out, n);
    CHECK(d_out.copy_to_host<float>(device.stream) == expected);
}

TEST_CASE("an index out of range ends its kernel with an error if bounds are checked, and only that kernel", "[lds]") {
    NEEDS_DEVICE();
    Device device;
    struct Row {
        std::int64_t row, column;
        bool inside;
    };
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    const Row row = GENERATE(values<Row>({{0, 0, true},
                                          {3, 4, true},
                                          {1, 2, true},
                                          {0, 5, false},  // the next row's first, without a check
                                          {4, 0, false},
                                          {-1, 0, false},
                                          {0, -1, false},
                                          {1ll << 32, 0, false},
                                          {0, (1ll << 32) + 1, false}}));
    CAPTURE(level, row.row, row.column);
    Stream other = device.gpu.stream(), checked = device.gpu.stream();
    const Kernel kernel = device.kernel("arrays_cpp", level, "write_one");
    auto d_out = device_array<std::uint32_t>(20, other);
    kernel.launch(checked, {.grid = 64, .workgroup = 64}, d_out, row.row, row.column);
    if (!row.inside) {
        CHECK_THROWS_AS(checked.synchronize(std::chrono::seconds(20)), QueueError);
    } else {
        checked.synchronize(std::chrono::seconds(20));
        std::vector<std::uint32_t> expected(20);
        expected[static_cast<std::size_t>(row.row * 5 + row.column)] = 1;
        CHECK(d_out.copy_to_host<std::uint32_t>(other) == expected);
    }
    kernel.launch(other, {.grid = 64, .workgroup = 64}, d_out, std::int64_t{1}, std::int64_t{1});
    CHECK(d_out.copy_to_host<std::uint32_t>(other)[6] == 1);
}

TEST_CASE("an empty array takes no space between others", "[lds]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    constexpr std::uint32_t n = 64;
    static_assert(around_nothing_layout(n).size_bytes() == 2 * n * sizeof(std::uint32_t));
    auto d_out = device_array<std::uint32_t>(n, device.stream);
    device.kernel("arrays_cpp", level, "around_nothing")
        .launch(device.stream, {.grid = n, .workgroup = n, .lds = around_nothing_layout(n)}, d_out, n);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back(2 * (n - 1 - i) + 1000 + 7);
    CHECK(d_out.copy_to_host<std::uint32_t>(device.stream) == expected);
}

TEST_CASE("a kernel can use every byte of a group segment of the device's limit", "[lds]") {
    NEEDS_DEVICE();
    Device device;
    const Kernel kernel = device.kernel("arrays_cpp", "O2", "all_bytes");
    const auto limit = static_cast<std::uint32_t>(device.gpu.agent().group_segment_max_bytes());
    auto d_counts = device_array<std::uint32_t>(256, device.stream);
    const auto launch = [&](std::uint32_t bytes) {
        const auto layout = shared::lds_layout(shared::lds_array<unsigned char>(bytes));
        kernel.launch(device.stream, {.grid = 256, .workgroup = 256, .lds = layout}, d_counts, bytes);
    };
    launch(limit);
    const auto counts = d_counts.copy_to_host<std::uint32_t>(device.stream);
    CHECK(std::accumulate(counts.begin(), counts.end(), 0u) == limit);
    CHECK_THROWS_AS(launch(limit + 1), InvalidArgument);
    launch(0);
    device.stream.synchronize(std::chrono::seconds(20));
}
