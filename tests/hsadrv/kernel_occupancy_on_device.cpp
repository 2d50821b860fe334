// Suggested launches on a device: they are accepted, and the numbers are the device's.
#include "hsadrv/error.hpp"
#include "hsadrv/kernel_occupancy.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

TEST_CASE("a suggested launch runs, and fills the device", "[kernel_occupancy][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu);
    const Executable code = Executable::load(device.gpu, launch_file(device.gpu, "v5.O2"));
    const Kernel kernel = code.kernel("reverse");
    const SuggestedLaunch best = suggest_group_size(kernel, sizeof(std::uint32_t));
    CAPTURE(best.workgroup.text(), best.workgroups);
    CHECK(best.workgroup.x <= kernel.metadata().max_flat_workgroup_size);
    CHECK(best.occupancy.workgroups == kernel.occupancy(best.workgroup, best.dynamic_lds).workgroups);
    CHECK(best.workgroups ==
          device.gpu.agent().compute_units() / best.occupancy.compute_units * best.occupancy.workgroups);
    CHECK(best.workgroups == device_workgroups(kernel, best.workgroup, best.dynamic_lds));
    CHECK(best.grid_workitems == best.workgroups * best.workgroup.volume());

    const auto n = static_cast<std::uint32_t>(best.grid_workitems), group = best.workgroup.x;
    Shared<std::uint32_t> data(device.gpu, n);
    for (std::uint32_t i = 0; i < n; ++i) data[i] = i;
    kernel.launch(device.stream, {.grid = n, .workgroup = group, .lds = best.dynamic_lds}, data.data(), 0u);
    device.stream.synchronize(std::chrono::seconds(60));
    bool right = true;
    for (std::uint32_t i = 0; i < n; ++i)
        right = right && data[i] == i / group * group + (group - 1 - i % group) + i % group % 3;
    CHECK(right);
}

TEST_CASE("a loaded kernel's required work-group and its limits hold for suggestions", "[kernel_occupancy][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu);
    const Executable code = Executable::load(device.gpu, launch_file(device.gpu, "v5.O2"));
    CHECK(suggest_group_size(code.kernel("exactly")).workgroup == Dim3(64, 2));
    CHECK(suggest_group_size(code.kernel("at_most")).workgroup.x <= 128);
    CHECK_THROWS_WITH(suggest_group_size(code.kernel("two_arrays")), Contains("2 dynamic LDS pointer(s)"));
    CHECK_THROWS_WITH(device_workgroups(code.kernel("exactly"), 64), Contains("requires 64x2x1"));

    const Kernel kernel = code.kernel("reverse");
    const std::uint32_t bytes = available_dynamic_lds(kernel, 64, 3);
    CHECK(kernel.occupancy(64, bytes).workgroups == 3);
    CHECK(kernel.occupancy(64, bytes + 1).workgroups == 2);
}

TEST_CASE("an unknown property of a processor is reported with the processor's name", "[kernel_occupancy][device]") {
    NEEDS_DEVICE();
    Device device;
    KernelMetadata metadata;
    metadata.name = "future";
    metadata.max_flat_workgroup_size = 64;
    metadata.wavefront_size = 32;
    const AgentRef gpu = device.gpu.agent();
    const Kernel kernel(std::make_shared<detail::KernelRecord>(LaunchPlan(metadata, LaunchLimits::of(gpu)), 0, gpu,
                                                               "gfx9999", nullptr));
    CHECK_THROWS_WITH(kernel.compute_unit(), Contains("'future'") && Contains("gfx9999") && Contains(gpu.label()));
    CHECK_THROWS_WITH(kernel.occupancy(64), Contains("gfx9999"));
    CHECK_THROWS_WITH(suggest_group_size(kernel), Contains("gfx9999"));
}
