// The device headers on a device: kernels compute the same results as the host, at every optimisation level.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "tests/shared/kernel_device.hpp"
#include "tests/shared/kernels/layouts.hpp"

using namespace hsadrv;

namespace {

std::vector<float> some_floats(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.5f);
    return values;
}

std::uint64_t sum_to(std::uint64_t n) { return n * (n - 1) / 2; }

}  // namespace

TEST_CASE("work-items have the right ids in three-dimensional grids with partial work-groups", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const Dim3 grid{20, 5, 3}, group{8, 2, 2};
    const auto source = GENERATE(as<std::string>(), "device_cpp", "device_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    constexpr std::size_t words = sizeof(WorkItem) / sizeof(std::uint32_t);
    auto d_out = device_array<std::uint32_t>({grid.volume(), words}, device.stream);
    const Kernel kernel = device.kernel(source, level, "work_items");
    kernel.launch(device.stream, {.grid = grid, .workgroup = group}, d_out);
    const auto out = d_out.copy_to_host<std::uint32_t>(device.stream);

    const std::uint32_t grids[] = {grid.x, grid.y, grid.z, 1}, groups[] = {group.x, group.y, group.z, 1};
    std::size_t wrong = 0;
    for (std::uint32_t flat = 0; flat < grid.volume(); ++flat) {
        const std::uint32_t ids[] = {flat % grid.x, flat / grid.x % grid.y, flat / grid.x / grid.y, 0};
        for (std::uint32_t d = 0; d < 4; ++d) {
            const std::uint32_t* seen = &out[flat * words + d];
            const std::uint32_t group_id = ids[d] / groups[d];
            const std::uint32_t expected[] = {ids[d],
                                              ids[d] % groups[d],
                                              group_id,
                                              grids[d],
                                              std::min(groups[d], grids[d] - group_id * groups[d]),
                                              (grids[d] + groups[d] - 1) / groups[d]};
            for (std::uint32_t what = 0; what < 6; ++what) wrong += seen[what * 4] != expected[what];
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a kernel has its grid's number of dimensions", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "device_cpp", "device_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    const std::pair<Dim3, std::uint32_t> grids[] = {{{64}, 1}, {{64, 2}, 2}, {{64, 1, 2}, 3}};
    auto d_out = device_array<std::uint32_t>(1, device.stream);
    for (const auto& [grid, dimensions] : grids) {
        CAPTURE(source, level, dimensions);
        device.kernel(source, level, "work_dim").launch(device.stream, {.grid = grid, .workgroup = 64}, d_out);
        CHECK(d_out.copy_to_host<std::uint32_t>(device.stream).front() == dimensions);
    }
}

TEST_CASE("a work-group that acquires sees the values that another released", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(level);
    auto d_data = to_device(std::vector<std::uint32_t>(256), device.stream);
    auto d_announced = to_device(std::vector<std::uint32_t>(1), device.stream);
    auto d_heard = device_array_like(d_data, device.stream);
    device.kernel("device_cpp", level, "pass_message")
        .launch(device.stream, {.grid = 512, .workgroup = 256}, d_data, d_announced, d_heard);
    std::vector<std::uint32_t> expected(256);
    std::iota(expected.rbegin(), expected.rend(), 1000u);
    CHECK(d_heard.copy_to_host<std::uint32_t>(device.stream) == expected);

    device.kernel("device_cpp", level, "fences").launch(device.stream, {.grid = 1, .workgroup = 1}, d_data);
    CHECK(d_data.copy_to_host<std::uint32_t>(device.stream)[2] == 3);
}

TEST_CASE("static LDS arrays hold each work-group's own elements across a barrier", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const auto source = GENERATE(as<std::string>(), "device_cpp", "device_cl");
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(source, level);
    const std::vector<float> in = some_floats(1024);
    auto d_in = to_device(in, device.stream);
    auto d_out = device_array_like(d_in, device.stream);
    const Kernel kernel = device.kernel(source, level, "reverse");
    kernel.launch(device.stream, {.grid = 1024, .workgroup = 256}, d_in, d_out);

    std::vector<float> expected;
    for (std::size_t i = 0; i < in.size(); ++i) expected.push_back(2 * in[i / 256 * 256 + 255 - i % 256] + 1);
    CHECK(d_out.copy_to_host<float>(device.stream) == expected);
}

TEST_CASE("host and device compute the same LDS layout", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(level);
    const Kernel kernel = device.kernel("device_cpp", level, "layout_offsets");
    const std::pair<std::uint32_t, std::uint32_t> shapes[] = {
        {1, 1}, {3, 5}, {0, 7}, {7, 0}, {64, 63}, {65536, 65536}, {100000, 40000}, {2, 0x7fffffff}};
    for (const auto& [n, m] : shapes) {
        CAPTURE(n, m);
        const auto layout = mixed_layout(n, m);
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < layout.count; ++i) expected.push_back(layout.offset_bytes(i));
        expected.push_back(layout.size_bytes());
        expected.push_back(layout.align_bytes());
        auto d_out = device_array<std::uint32_t>(expected.size(), device.stream);
        kernel.launch(device.stream, {.grid = 64, .workgroup = 64}, d_out, n, m);
        CHECK(d_out.copy_to_host<std::uint32_t>(device.stream) == expected);
    }
}

TEST_CASE("arrays of a layout sized at launch neither overlap one another nor the static ones", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(level);
    const Kernel kernel = device.kernel("device_cpp", level, "dynamic_arrays");
    const std::pair<std::uint32_t, std::uint32_t> shapes[] = {{1, 1}, {5, 3}, {0, 4}, {31, 17}};
    for (const auto& [n, m] : shapes) {
        CAPTURE(n, m);
        auto d_sums = device_array<std::uint64_t>(6, device.stream);
        kernel.launch(device.stream, {.grid = 64, .workgroup = 64, .lds = mixed_layout(n, m)}, d_sums, n, m);
        const std::uint64_t high_and_low = (1ull << 32) + 1;
        const std::vector<std::uint64_t> expected{
            sum_to(std::uint64_t{n} * m),
            sum_to(n),
            3 * sum_to(m),
            high_and_low * (sum_to(n) * m + sum_to(m) * n),
            3 * sum_to(m),
            sum_to(5),
        };
        CHECK(d_sums.copy_to_host<std::uint64_t>(device.stream) == expected);
    }
}

TEST_CASE("an OpenCL kernel gets each of its dynamic LDS arrays from one layout", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(level);
    auto d_out = device_array<std::uint32_t>(512, device.stream);
    const auto layout =
        shared::lds_layout(shared::lds_array<std::uint32_t>(128), shared::lds_array<std::uint32_t>(128));
    const Kernel kernel = device.kernel("device_cl", level, "dynamic_arrays");
    kernel.launch(device.stream, {.grid = 512, .workgroup = 128, .lds = layout}, d_out);
    std::vector<std::uint32_t> expected(512);
    std::iota(expected.begin(), expected.end(), 0u);
    CHECK(d_out.copy_to_host<std::uint32_t>(device.stream) == expected);
}

TEST_CASE("atomic additions of all work-items are counted, in LDS and in global memory", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(level);
    constexpr std::uint32_t n = 4096;
    auto d_through_lds = to_device(std::vector<std::uint32_t>(1), device.stream);
    auto d_directly = to_device(std::vector<std::uint64_t>(1), device.stream);
    auto d_negative = to_device(std::vector<std::int32_t>(1), device.stream);
    const Kernel cpp = device.kernel("device_cpp", level, "atomics"), cl = device.kernel("device_cl", level, "atomics");
    cpp.launch(device.stream, {.grid = n, .workgroup = 256}, d_through_lds, d_directly, d_negative);
    cl.launch(device.stream, {.grid = n, .workgroup = 256}, d_through_lds, d_negative);
    CHECK(d_through_lds.copy_to_host<std::uint32_t>(device.stream).front() == 2 * sum_to(n));
    CHECK(d_directly.copy_to_host<std::uint64_t>(device.stream).front() == sum_to(n) << 32);
    CHECK(d_negative.copy_to_host<std::int32_t>(device.stream).front() == -2 * static_cast<std::int32_t>(sum_to(n)));
}

TEST_CASE("LDS up to the device's limit is accepted, one byte more is refused before anything runs", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const Kernel kernel = device.kernel("device_cl", "O2", "dynamic_arrays");
    const auto limit = static_cast<std::uint32_t>(device.gpu.agent().group_segment_max_bytes());
    auto d_out = to_device(std::vector<std::uint32_t>(64, 99u), device.stream);
    const auto layout_of = [](std::uint32_t bytes) {
        return shared::lds_layout(shared::lds_array<std::uint32_t>(64), shared::lds_array<char>(bytes - 256));
    };
    CHECK_THROWS_AS(kernel.launch(device.stream, {.grid = 64, .workgroup = 64, .lds = layout_of(limit + 1)}, d_out),
                    InvalidArgument);
    CHECK(d_out.copy_to_host<std::uint32_t>(device.stream) == std::vector<std::uint32_t>(64, 99u));
    kernel.launch(device.stream, {.grid = 64, .workgroup = 64, .lds = layout_of(limit)}, d_out);
    CHECK(d_out.copy_to_host<std::uint32_t>(device.stream).back() == 63);
    CHECK_THROWS_AS(kernel.launch(device.stream, {.grid = 64, .workgroup = 64, .lds = -1}, d_out), InvalidArgument);
}
