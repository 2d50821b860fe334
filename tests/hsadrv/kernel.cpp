// Launching on a device: kernels get their arguments, and no invalid launch is enqueued.
#include "hsadrv/kernel.hpp"

#include "hsadrv/allocator.hpp"
#include "hsadrv/error.hpp"
#include "tests/hsadrv/launch_device.hpp"
#include "tests/support/allocations.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

struct Launcher {
    Device device;
    Executable code;

    explicit Launcher(const std::string& variant = "v5.O2")
        : code(Executable::load(device.gpu, launch_file(device.gpu, variant))) {}

    template <class... Args>
    void run(const char* kernel, const LaunchConfig& config, const Args&... args) {
        code.kernel(kernel).launch(device.stream, config, args...);
        device.stream.synchronize(std::chrono::seconds(60));
    }

    template <class... Args>
    std::string refusal(const char* kernel, const LaunchConfig& config, const Args&... args) {
        const auto before = device.stream.progress().submitted;
        const std::string why =
            message_of<InvalidArgument>([&] { code.kernel(kernel).launch(device.stream, config, args...); });
        CHECK(device.stream.progress().submitted == before);  // nothing was enqueued
        return why;
    }
};

bool skip_reason(std::string& why) {
    if (const auto none = no_device()) {
        why = *none;
    } else {
        why = not_built_for(Driver().gpus().front());
    }
    return !why.empty();
}

}  // namespace

#define NEEDS_LAUNCHER()                         \
    do {                                         \
        std::string why;                         \
        if (skip_reason(why)) SKIP_BECAUSE(why); \
    } while (false)

TEST_CASE("pointers and scalars reach the kernel; the last work-group may be partial", "[kernel][device]") {
    NEEDS_LAUNCHER();
    const std::string variant = GENERATE("v4.O0", "v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    Launcher launcher(variant);
    const unsigned n = GENERATE(1u, 100u, 256u, 1000u);
    Shared<float> x(launcher.device.gpu, n), y(launcher.device.gpu, n + 1, 1.0f);
    for (unsigned i = 0; i < n; ++i) x[i] = static_cast<float>(i);
    launcher.run("saxpy", {.grid = n, .workgroup = 256}, y.data(), x.data(), 2.0f, n);
    bool right = true;
    for (unsigned i = 0; i < n; ++i) right = right && y[i] == 1.0f + 2.0f * static_cast<float>(i);
    CHECK(right);
    CHECK(y[n] == 1.0f);
}

TEST_CASE("every scalar and a struct are packed where the kernel reads them", "[kernel][device]") {
    NEEDS_LAUNCHER();
    const std::string variant = GENERATE("v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    Launcher launcher(variant);
    Shared<std::uint64_t> out(launcher.device.gpu, 9);
    launcher.run("mixed", {.grid = 1, .workgroup = 1}, out.data(), static_cast<signed char>(-3),
                 static_cast<short>(-300), -70000, -5000000000L, 2.25f, -1.125, Triple{-7, 12.0f, -99.0});
    const auto value = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    const std::uint64_t wanted[] = {value(-3), value(-300), value(-70000), value(-5000000000L), 9, value(-9),
                                    value(-7), 12,          value(-99)};
    for (std::size_t i = 0; i < 9; ++i) {
        CAPTURE(i);
        CHECK(out[i] == wanted[i]);
    }
}

TEST_CASE("dynamic LDS follows the static LDS", "[kernel][device]") {
    NEEDS_LAUNCHER();
    const std::string variant = GENERATE("v4.O0", "v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    Launcher launcher(variant);
    constexpr unsigned n = 512, group = 128;
    Shared<std::uint32_t> data(launcher.device.gpu, n);
    for (unsigned i = 0; i < n; ++i) data[i] = i;
    launcher.run("reverse", {.grid = n, .workgroup = group, .lds = group * sizeof(std::uint32_t)}, data.data(), 1000u);
    bool right = true;
    for (unsigned i = 0; i < n; ++i)
        right = right && data[i] == i / group * group + (group - 1 - i % group) + 1000 + i % group % 3;
    CHECK(right);
}

TEST_CASE("a layout gives each LDS pointer its array", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    Shared<std::uint32_t> out(launcher.device.gpu, 2);
    const auto layout = shared::lds_layout(shared::lds_array<char>(5), shared::lds_array<double>(2));
    launcher.run("two_arrays", {.grid = 1, .workgroup = 1, .lds = layout}, out.data());
    CHECK(out[0] == 0);
    CHECK(out[1] == 8);

    const auto limit = static_cast<std::uint32_t>(launcher.device.gpu.agent().group_segment_max_bytes());
    const auto all = shared::lds_layout(shared::lds_array<char>(limit - 8), shared::lds_array<double>(1));
    launcher.run("two_arrays", {.grid = 1, .workgroup = 1, .lds = all}, out.data());
    CHECK(out[1] == limit - 8);  // where it writes
}

TEST_CASE("a kernel sees its work-group and grid sizes", "[kernel][device]") {
    NEEDS_LAUNCHER();
    const std::string variant = GENERATE("v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    Launcher launcher(variant);
    Shared<std::uint32_t> out(launcher.device.gpu, 8);
    launcher.run("shape", {.grid = 600, .workgroup = 256}, out.data());
    CHECK(out[0] == 256);
    CHECK(out[1] == 600);
    CHECK(out[4] == 256);  // of whole work-groups; the partial one's is a hidden argument
}

TEST_CASE("hidden arguments arrive where the compiler reads them", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    Shared<std::uint32_t> out(launcher.device.gpu, 52);
    launcher.run("hidden", {.grid = {10, 4}, .workgroup = {4, 2}}, out.data(), 52u);
    CHECK(out[0] == 2);
    CHECK(out[1] == 2);
    CHECK(out[2] == 1);
    CHECK(out[3] == (4u | 2u << 16));
    CHECK(out[4] == (1u | 2u << 16));  // group size z, remainder x
    CHECK(out[16] == 2);               // grid dimensions
    const std::uint64_t queue = out[50] | std::uint64_t{out[51]} << 32;
    CHECK(queue == reinterpret_cast<std::uint64_t>(launcher.device.stream.queue().native()));
}

TEST_CASE("the queue pointer is the queue the kernel runs on", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher("v4.O2");  // clang 19 loses the builtin's value in V5; "hidden" above reads V5's argument itself
    Shared<std::uint64_t> out(launcher.device.gpu, 1);
    launcher.run("queue", {.grid = 1, .workgroup = 1}, out.data());
    CHECK(out[0] == reinterpret_cast<std::uint64_t>(launcher.device.stream.queue().native()));
}

TEST_CASE("a kernel with no arguments and one with a required size run", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    launcher.run("no_arguments", {.grid = 64, .workgroup = 64});
    Shared<std::uint32_t> out(launcher.device.gpu, 1);
    launcher.run("exactly", {.grid = {64, 2}, .workgroup = {64, 2}}, out.data());
    CHECK(out[0] == 1);
}

TEST_CASE("wrong arguments are refused before anything is enqueued", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    Shared<float> x(launcher.device.gpu, 4), y(launcher.device.gpu, 4);
    const LaunchConfig config{.grid = 4, .workgroup = 4};
    CHECK_THAT(launcher.refusal("saxpy", config, y.data(), x.data(), 2.0f), Contains("takes 4 arguments, given 3"));
    CHECK_THAT(launcher.refusal("saxpy", config, y.data(), x.data(), 2.0f, 4u, 5),
               Contains("takes 4 arguments, given 5"));
    CHECK_THAT(launcher.refusal("saxpy", config, y.data(), x.data(), 2.0, 4u),
               Contains("argument 3 of 4 (float): wanted a floating-point number of 4 bytes, given a "
                        "floating-point number of 8 bytes"));
    CHECK_THAT(launcher.refusal("saxpy", config, y.data(), x.data(), 2, 4u),
               Contains("argument 3 of 4") && Contains("given an integer of 4 bytes"));
    CHECK_THAT(launcher.refusal("saxpy", config, y.data(), 2.0f, 2.0f, 4u),
               Contains("argument 2 of 4 (float*): wanted a pointer of 8 bytes"));
    CHECK_THAT(launcher.refusal("saxpy", config, y.data(), x.data(), 2.0f, y.data()),
               Contains("argument 4 of 4 (uint)") && Contains("given a pointer"));
}

TEST_CASE("work-groups, grids and LDS beyond the limits are refused before anything is enqueued", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    const AgentRef gpu = launcher.device.gpu;
    Shared<std::uint32_t> out(launcher.device.gpu, 4);
    CHECK_THAT(launcher.refusal("shape", {.grid = 4096, .workgroup = gpu.workgroup_max_workitems() + 1}, out.data()),
               Contains("limit"));
    CHECK_THAT(launcher.refusal("shape", {.grid = 4096, .workgroup = 257}, out.data()),
               Contains("compiled for up to 256"));
    CHECK_THAT(launcher.refusal("at_most", {.grid = 4096, .workgroup = 129}, out.data()),
               Contains("compiled for up to 128"));
    CHECK_THAT(launcher.refusal("exactly", {.grid = 128, .workgroup = 128}, out.data()), Contains("requires 64x2x1"));
    CHECK_THAT(launcher.refusal("shape", {.grid = 0, .workgroup = 64}, out.data()), Contains("is empty"));

    const auto limit = static_cast<std::uint32_t>(gpu.group_segment_max_bytes());
    const std::uint32_t room = limit - 16;  // 12 static bytes, then the 16-byte alignment of plain bytes
    CHECK_THAT(launcher.refusal("reverse", {.grid = 4, .workgroup = 4, .lds = room + 1}, out.data(), 0u),
               Contains("12 bytes static + " + std::to_string(room + 1) + " bytes dynamic") &&
                   Contains(std::to_string(limit) + " bytes per work-group"));
    launcher.run("reverse", {.grid = 4, .workgroup = 4, .lds = room}, out.data(), 0u);
    CHECK_THAT(launcher.refusal("reverse", {.grid = 4, .workgroup = 4}, out.data(), 0u),
               Contains("dynamic LDS pointer"));

    const auto too_large = shared::lds_layout(shared::lds_array<char>(4), shared::lds_array<double>(limit / 8));
    const std::string numbers = std::to_string(limit + 8) + " bytes dynamic";
    const std::string largest = "is array 1 with " + std::to_string(limit) + " bytes";
    CHECK_THAT(launcher.refusal("two_arrays", {.grid = 1, .workgroup = 1, .lds = too_large}, out.data()),
               Contains(numbers) && Contains(largest));
}

TEST_CASE("arrays are held until the kernel that uses them is complete", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    const auto memory = std::make_shared<Shared<std::uint32_t>>(launcher.device.gpu, std::size_t{4});
    launcher.code.kernel("exactly").launch(launcher.device.stream, {.grid = {64, 2}, .workgroup = {64, 2}},
                                           DevicePointer{memory->data(), memory});
    launcher.device.stream.synchronize(std::chrono::seconds(60));
    CHECK((*memory)[0] == 1);
    launcher.run("no_arguments", {.grid = 1, .workgroup = 1});
    CHECK(memory.use_count() == 1);
}

TEST_CASE("a kernel has its agent's limits, and runs only on its agent's streams", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    const AgentRef gpu = launcher.device.gpu;
    const LaunchLimits limits = LaunchLimits::of(gpu);
    CHECK(limits.workgroup_max_workitems == gpu.workgroup_max_workitems());
    CHECK(limits.workgroup_max_dim == gpu.workgroup_max_dim());
    CHECK(limits.grid_max_workitems == gpu.grid_max_workitems());
    const std::uint32_t most = UINT32_MAX;
    CHECK(limits.grid_max_dim == Dim3(most, most, most));  // ROCR 7.2 reports fewer: what HIP allows for blocks
    CHECK(limits.group_segment_max_bytes == gpu.group_segment_max_bytes());
    const Kernel kernel = launcher.code.kernel("no_arguments");
    CHECK_NOTHROW(kernel.check_stream(launcher.device.stream));
    if (launcher.device.driver.gpus().size() < 2) return;
    const Stream elsewhere(launcher.device.driver.gpus()[1]);
    CHECK_THROWS_WITH(kernel.check_stream(elsewhere), Contains(elsewhere.agent().label()) && Contains(gpu.label()));
}

TEST_CASE("an allocation and a block are passed to a kernel as their addresses", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    const Allocation y = launcher.device.gpu.allocate_host(256), x = launcher.device.gpu.allocate_host(256);
    Allocator allocator(host_pool());
    const Block other = allocator.allocate(256, launcher.device.stream);
    for (int i = 0; i < 64; ++i) y.as<float>()[i] = other.as<float>()[i] = 1, x.as<float>()[i] = 2;
    launcher.run("saxpy", {.grid = 64, .workgroup = 64}, y, x, 3.0f, 64u);
    CHECK(y.as<float>()[63] == 7);
    launcher.run("saxpy", {.grid = 64, .workgroup = 64}, other, x, 4.0f, 64u);
    CHECK(other.as<float>()[63] == 9);
}

TEST_CASE("a launch does not allocate", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    Shared<float> x(launcher.device.gpu, 64), y(launcher.device.gpu, 64);
    const Kernel kernel = launcher.code.kernel("saxpy");  // with hidden arguments
    const auto launch = [&] {
        kernel.launch(launcher.device.stream, {.grid = 64, .workgroup = 64}, y.data(), x.data(), 2.0f, 64u);
    };
    launch();
    launcher.device.stream.synchronize();
    const std::size_t before = allocations_made();
    for (int i = 0; i < 100; ++i) launch();
    CHECK(allocations_made() == before);
    launcher.device.stream.synchronize(std::chrono::seconds(60));
}

TEST_CASE("a stream of another device is refused", "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    const auto& gpus = launcher.device.driver.gpus();
    if (gpus.size() < 2) SKIP_BECAUSE("there is one GPU");
    Stream other(gpus[1]);
    CHECK_THROWS_AS(launcher.code.kernel("no_arguments").launch(other, {.grid = 1, .workgroup = 1}), InvalidArgument);
}

TEST_CASE("occupancy follows from registers and LDS, and refuses the sizes that launching refuses",
          "[kernel][device]") {
    NEEDS_LAUNCHER();
    Launcher launcher;
    const Kernel kernel = launcher.code.kernel("reverse");
    const shared::ComputeUnit unit = shared::compute_unit(launcher.device.gpu.agent().name().c_str());
    REQUIRE(unit.known());
    const shared::Occupancy small = kernel.occupancy(256, 16);
    CHECK(small.waves_per_workgroup == 256 / kernel.metadata().wavefront_size);
    CHECK(small.workgroups > 1);
    CHECK(small.waves_per_simd <= unit.max_waves_per_simd);
    const auto half = unit.lds_bytes / 2;
    CHECK(kernel.occupancy(64, half - 16).workgroups == 2 * small.compute_units);
    CHECK(kernel.occupancy(64, half - 16).limit == shared::OccupancyLimit::lds);
    CHECK(kernel.occupancy(64, half).workgroups == 2 * small.compute_units - 1);  // 12 bytes are static
    CHECK_THROWS_AS(kernel.occupancy(0, 16), InvalidArgument);
    CHECK_THROWS_AS(kernel.occupancy(257, 16), InvalidArgument);
    CHECK_THROWS_AS(kernel.occupancy(64, unit.lds_bytes), InvalidArgument);
    CHECK_THROWS_AS(kernel.occupancy(64), InvalidArgument);  // it has an LDS pointer
}
