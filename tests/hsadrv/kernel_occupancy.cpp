#include "hsadrv/kernel_occupancy.hpp"

#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

const LaunchLimits gpu_limits{1024, Dim3(1024, 1024, 1024), 0xffffffff, Dim3(0xffffffff, 0xffff, 0xffff), 65536};
constexpr shared::ComputeUnit gfx900 = shared::compute_unit("gfx900"), gfx90a = shared::compute_unit("gfx90a");

KernelMetadata plain_kernel() {
    KernelMetadata result;
    result.name = "k";
    result.kernarg_size_bytes = 64;
    result.max_flat_workgroup_size = 1024;
    result.wavefront_size = 64;
    result.vgpr_count = 24;
    result.sgpr_count = 16;
    return result;
}

KernelMetadata with_lds_pointers(unsigned count) {
    KernelMetadata result = plain_kernel();
    for (unsigned i = 0; i < count; ++i) {
        ArgumentMetadata pointer;
        pointer.kind = ValueKind::dynamic_shared_pointer;
        pointer.offset_bytes = 4 * i;
        pointer.size_bytes = 4;
        pointer.pointee_align_bytes = 4;
        result.arguments.push_back(pointer);
    }
    return result;
}

LdsOfGroupSize bytes_per_item(std::uint32_t bytes) {
    return [=](std::uint32_t workitems) -> shared::LdsDemand { return std::uint64_t{bytes} * workitems; };
}

SuggestedLaunch suggest(const KernelMetadata& of, const LdsOfGroupSize& lds = bytes_per_item(0),
                        const LaunchLimits& within = gpu_limits) {
    return suggest_group_size(LaunchPlan(of, within), gfx900, lds);
}

std::string refusal(const KernelMetadata& of, const LdsOfGroupSize& lds = bytes_per_item(0)) {
    return message_of<InvalidArgument>([&] { suggest(of, lds); });
}

}  // namespace

TEST_CASE("a kernel's registers and LDS are those of its metadata, or of its descriptor where that has more",
          "[kernel_occupancy]") {
    KernelMetadata of = plain_kernel();
    of.vgpr_count = 130, of.agpr_count = 100, of.sgpr_count = 30;
    of.wavefront_size = 32, of.workgroup_processor_mode = true;
    of.vgpr_floor = 129, of.sgpr_floor = 25;
    const shared::KernelResources takes = resources_of(of, 96, 1000);
    CHECK(takes.vgprs == 130);
    CHECK(takes.agprs == 100);
    CHECK(takes.sgprs == 30);
    CHECK(takes.lds_bytes == 1000);
    CHECK(takes.workgroup_workitems == 96);
    CHECK(takes.wavefront_size == 32);
    CHECK(takes.workgroup_processor_mode);
    of.vgpr_floor = 169, of.sgpr_floor = 97;
    CHECK(resources_of(of, 96, 1000).vgprs == 169);
    CHECK(resources_of(of, 96, 1000).sgprs == 97);
}

TEST_CASE("a suggested work-group is one that a launch accepts", "[kernel_occupancy]") {
    CHECK(suggest(plain_kernel()).workgroup == Dim3(256));
    CHECK(suggest(plain_kernel()).occupancy.waves_per_simd == 10);
    CHECK(suggest(plain_kernel()).workgroups == 0);  // an unnamed device

    KernelMetadata small = plain_kernel();
    small.max_flat_workgroup_size = 128;
    CHECK(suggest(small).workgroup == Dim3(64));
    small.vgpr_count = 128;  // two waves per SIMD: 64 and 128 are equal, and 128 uses more SIMDs
    CHECK(suggest(small).workgroup == Dim3(128));

    LaunchLimits few = gpu_limits;
    few.workgroup_max_workitems = 192;
    CHECK(suggest(plain_kernel(), bytes_per_item(0), few).workgroup.x <= 192);
    few = gpu_limits;
    few.workgroup_max_dim.x = 64;
    CHECK(suggest(plain_kernel(), bytes_per_item(0), few).workgroup == Dim3(64));
}

TEST_CASE("a required work-group is the suggested one", "[kernel_occupancy]") {
    KernelMetadata fixed = with_lds_pointers(1);
    fixed.required_workgroup_size = {64, 2, 1};
    const SuggestedLaunch best = suggest(fixed, bytes_per_item(100));
    CHECK(best.workgroup == Dim3(64, 2));
    CHECK(best.dynamic_lds.size_bytes == 12800);
    CHECK(best.occupancy.workgroups == 5);
    CHECK(best.occupancy.limit == shared::OccupancyLimit::lds);
    CHECK_THAT(refusal(fixed, bytes_per_item(1000)),
               Contains("128000 bytes dynamic") && Contains("65536 bytes per work-group"));
    fixed.max_flat_workgroup_size = 64;
    CHECK_THAT(refusal(fixed), Contains("has 128 work-items, the kernel was compiled for up to 64"));
}

TEST_CASE("LDS is the static and the dynamic part, up to the agent's limit", "[kernel_occupancy]") {
    KernelMetadata tile = with_lds_pointers(1);
    tile.group_segment_fixed_bytes = 1000;
    const SuggestedLaunch best = suggest(tile, bytes_per_item(16));
    CHECK(best.workgroup == Dim3(256));  // 5104 bytes: 12 groups, of which 10 have waves
    CHECK(best.dynamic_lds.size_bytes == 4096);
    CHECK(best.occupancy.waves_per_simd == 10);

    LaunchLimits little = gpu_limits;
    little.group_segment_max_bytes = 4096;
    const SuggestedLaunch within = suggest(tile, bytes_per_item(16), little);
    CHECK(within.workgroup.x <= 192);
    CHECK(1008 + within.dynamic_lds.size_bytes <= 4096);
}

TEST_CASE("LDS may be a layout that depends on the work-group", "[kernel_occupancy]") {
    const auto layout = [](std::uint32_t n) -> shared::LdsDemand {
        return shared::lds_layout(shared::lds_array<float>(n), shared::lds_array<double>(n / 2));
    };
    const SuggestedLaunch best = suggest(with_lds_pointers(2), layout);
    CHECK(best.workgroup == Dim3(256));
    CHECK(best.dynamic_lds.count == 2);
    CHECK(best.dynamic_lds.size_bytes == 2048);
    CHECK_THAT(refusal(with_lds_pointers(2)), Contains("2 dynamic LDS pointer(s), and .lds describes 1 array(s)"));
}

TEST_CASE("if no work-group fits, the limiting resource is named", "[kernel_occupancy]") {
    KernelMetadata large = plain_kernel();
    large.group_segment_fixed_bytes = 65537;
    CHECK_THAT(refusal(large), Contains("launch of kernel 'k'") && Contains("65537 bytes static"));
    CHECK_THAT(refusal(with_lds_pointers(1), bytes_per_item(0xffffffff)), Contains("4 GiB or more dynamic"));
    KernelMetadata wide = plain_kernel();
    wide.vgpr_count = 300;
    CHECK_THAT(refusal(wide),
               Contains("occupancy of kernel 'k'") && Contains("work-group of 64x1x1") &&
                   Contains("limited by vector registers (300 VGPRs and AGPRs, 16 SGPRs, 0 bytes of LDS)"));
    CHECK_THAT(refusal(plain_kernel(), LdsOfGroupSize()),
               Contains("kernel 'k'") && Contains("the LDS function is empty"));
    const auto unknown = [] { suggest_group_size(LaunchPlan(plain_kernel(), gpu_limits), {}, bytes_per_item(0)); };
    CHECK_THAT(message_of<InvalidArgument>(unknown), Contains("compute unit is unknown"));
}

TEST_CASE("all LDS left for a number of work-groups is available", "[kernel_occupancy]") {
    KernelMetadata of = with_lds_pointers(1);
    of.group_segment_fixed_bytes = GENERATE(0u, 12u, 1000u);
    of.vgpr_count = 64;  // eight waves per SIMD of gfx90a
    const LaunchPlan plan(of, gpu_limits);
    for (std::uint32_t workgroups = 1; workgroups <= 8; ++workgroups) {
        CAPTURE(of.group_segment_fixed_bytes, workgroups);
        const std::uint32_t bytes = available_dynamic_lds(plan, gfx90a, 256, workgroups);
        const auto held = [&](std::uint32_t lds) {
            const LaunchConfig config{.grid = 256, .workgroup = 256, .lds = lds};
            if (!plan.fits(config)) return 0u;
            return occupancy(gfx90a, resources_of(of, 256, plan.shape(config).group_segment_bytes)).workgroups;
        };
        CHECK(held(bytes) >= workgroups);
        CHECK(held(bytes + 1) < workgroups);
    }
    const auto refused = [&](std::uint32_t workgroups) {
        return message_of<InvalidArgument>([&] { available_dynamic_lds(plan, gfx90a, 256, workgroups); });
    };
    CHECK_THAT(refused(9),
               Contains("holds 8 work-groups of 256x1x1 with no dynamic LDS, limited by wave slots; requested 9"));
    CHECK_THAT(refused(0), Contains("requested 0"));
    CHECK_THROWS_WITH(available_dynamic_lds(plan, gfx90a, 2048, 1), Contains("the agent's limit"));
    CHECK(available_dynamic_lds(LaunchPlan(with_lds_pointers(3), gpu_limits), gfx90a, 64, 1) == 65536);
    CHECK(available_dynamic_lds(LaunchPlan(plain_kernel(), gpu_limits), gfx90a, 64, 1) == 65536);
}

TEST_CASE("a plan's fit agrees with shape()", "[launch_plan]") {
    const LaunchPlan plan(with_lds_pointers(1), gpu_limits);
    CHECK(plan.workgroup_max_workitems() == 1024);
    CHECK(plan.group_segment_max_bytes() == 65536);
    const LaunchConfig configs[] = {
        {.grid = 64, .workgroup = 64, .lds = 0},     {.grid = 64, .workgroup = 64},
        {.grid = 64, .workgroup = 64, .lds = 65536}, {.grid = 64, .workgroup = 64, .lds = 65537},
        {.grid = 64, .workgroup = 1025, .lds = 0},   {.grid = 0, .workgroup = 64, .lds = 0},
        {.grid = 64, .workgroup = 64, .lds = -1},
    };
    for (const LaunchConfig& config : configs) {
        CAPTURE(config.grid.text(), config.workgroup.text(), config.lds.size_bytes);
        CHECK(plan.fits(config) == message_of<InvalidArgument>([&] { plan.shape(config); }).empty());
    }
}
