#include "shared/group_size.hpp"

#include "tests/support/catch.hpp"

using namespace hsadrv::shared;

namespace {

// A constant expression, as documented in the header.
static_assert(suggest_group_size(compute_unit("gfx90a"), {.vgprs = 40}, 1024).workgroup_workitems == 256);

/// The maximum number of concurrent work-items on a compute unit, in work-groups of whole waves.
template <class LdsOf>
std::uint32_t most_workitems(const ComputeUnit& unit, KernelResources kernel, std::uint32_t max_workitems,
                             const LdsOf& lds_of) {
    std::uint32_t most = 0;
    for (std::uint32_t size = max_workitems; size > 0; --size) {
        if (size % kernel.wavefront_size != 0) continue;
        kernel.workgroup_workitems = size;
        kernel.lds_bytes = lds_of(size);
        const std::uint32_t workitems = occupancy(unit, kernel).workgroups * size;
        if (workitems > most) most = workitems;
    }
    return most;
}

}  // namespace

TEST_CASE("the suggested size is the smallest with the best occupancy and a wave for every SIMD", "[group_size]") {
    struct Row {
        const char* processor;
        KernelResources kernel;
        std::uint32_t max_workitems, lds_bytes_per_workitem, workitems, waves_per_simd;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx900", {24, 16}, 1024, 0, 256, 10},
        {"gfx900", {24, 16}, 255, 0, 64, 10},  // 128 would run out of barriers, 192 leaves one wave free
        {"gfx900", {24, 16}, 100, 0, 64, 10},
        {"gfx900", {24, 16}, 32, 0, 32, 10},  // half of each wave
        {"gfx900", {36, 16}, 1024, 0, 256, 7},
        {"gfx900", {256, 16}, 1024, 0, 256, 1},
        {"gfx90a", {512, 16}, 1024, 0, 256, 1},
        {"gfx900", {24, 16}, 1024, 16, 256, 10},        // 40 KiB
        {"gfx900", {24, 16}, 1024, 64, 256, 4},         // 64 KiB are for 1024 work-items, in any groups
        {"gfx900", {24, 16, 16384}, 1024, 0, 640, 10},  // four groups share it: larger is better
        {"gfx900", {24, 16, 40000}, 1024, 0, 1024, 4},
        {"gfx900", {24, 16, 40000}, 1024, 30, 832, 4},  // 851 fit
        {"gfx900", {24, 16, 65536}, 1024, 1, 0, 0},
        {"gfx900", {24, 16, 0}, 1024, 0xffffffff, 0, 0},
        {"gfx900", {300, 16, 0}, 1024, 0, 0, 0},
        {"gfx900", {24, 16, 0}, 0, 0, 0, 0},
        {"gfx900", {24, 16, 0}, 0xffffffff, 0, 256, 10},
        {"gfx1030", {24, 16, 0, 0, 32, true}, 1024, 0, 128, 16},
        {"gfx1030", {24, 16, 0, 0, 32, false}, 1024, 0, 64, 16},
    }));
    CAPTURE(row.processor, row.kernel.vgprs, row.kernel.lds_bytes, row.max_workitems, row.lds_bytes_per_workitem);
    const GroupSize best =
        suggest_group_size(compute_unit(row.processor), row.kernel, row.max_workitems, row.lds_bytes_per_workitem);
    CHECK(best.workgroup_workitems == row.workitems);
    CHECK(best.occupancy.waves_per_simd == row.waves_per_simd);
}

TEST_CASE("no size of whole waves keeps more work-items on a compute unit than the suggested one", "[group_size]") {
    const char* processor = GENERATE("gfx803", "gfx900", "gfx908", "gfx90a", "gfx950", "gfx1030", "gfx1100");
    const std::uint32_t vgprs = GENERATE(8u, 36u, 84u, 130u, 256u);
    const std::uint32_t fixed = GENERATE(0u, 5000u, 33000u);
    const std::uint32_t per_workitem = GENERATE(0u, 1u, 12u, 64u);
    CAPTURE(processor, vgprs, fixed, per_workitem);
    const ComputeUnit unit = compute_unit(processor);
    const KernelResources kernel{.vgprs = vgprs,
                                 .lds_bytes = fixed,
                                 .wavefront_size = unit.wide_registers ? 32u : 64u,
                                 .workgroup_processor_mode = unit.wide_registers};
    const GroupSize best = suggest_group_size(unit, kernel, 1024, per_workitem);
    const auto lds_of = [&](std::uint32_t size) { return fixed + size * per_workitem; };
    CHECK(best.occupancy.workgroups * best.workgroup_workitems == most_workitems(unit, kernel, 1024, lds_of));
}

TEST_CASE("LDS may be any function of the work-group's size", "[group_size]") {
    const ComputeUnit unit = compute_unit("gfx900");
    // A square tile: 16 x 16 work-items and twice as many rows of floats as they are wide; only squares are accepted.
    const auto squares = [](std::uint32_t size) -> std::uint32_t {
        return size == 64 ? 2 * 64 * 4 : size == 256 ? 2 * 256 * 4 : size == 1024 ? 2 * 1024 * 4 : 0xffffffff;
    };
    const GroupSize best = suggest_group_size(unit, {.vgprs = 32}, 1024, squares);
    CHECK(best.workgroup_workitems == 256);
    CHECK(best.occupancy.waves_per_simd == 8);
    const auto none = [](std::uint32_t) -> std::uint32_t { return 0xffffffff; };
    CHECK(suggest_group_size(unit, {.vgprs = 32}, 1024, none).workgroup_workitems == 0);
}
