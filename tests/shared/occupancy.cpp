#include "shared/occupancy.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace hsadrv::shared;

namespace {

constexpr Occupancy of(const char* processor, const KernelResources& kernel) {
    return occupancy(compute_unit(processor), kernel);
}

// A constant expression, as documented in the header.
static_assert(of("gfx90a", {.vgprs = 128, .sgprs = 32, .workgroup_workitems = 256}).waves_per_simd == 4);

}  // namespace

TEST_CASE("every processor has its compute units, also with a common prefix", "[occupancy]") {
    struct Row {
        const char* processor;
        std::uint32_t simds, waves, vgprs, lds_kib;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx701", 4, 10, 256, 64},        {"gfx803", 4, 10, 256, 64},          {"gfx900", 4, 10, 256, 64},
        {"gfx906", 4, 10, 256, 64},        {"gfx908", 4, 10, 256, 64},          {"gfx90a", 4, 8, 512, 64},
        {"gfx90c", 4, 10, 256, 64},        {"gfx942", 4, 8, 512, 64},           {"gfx950", 4, 8, 512, 160},
        {"gfx1010", 2, 20, 512, 64},       {"gfx1030", 2, 16, 512, 64},         {"gfx1036", 2, 16, 512, 64},
        {"gfx1100", 2, 16, 768, 64},       {"gfx1102", 2, 16, 512, 64},         {"gfx1151", 2, 16, 768, 64},
        {"gfx1152", 2, 16, 512, 64},       {"gfx1201", 2, 16, 768, 64},         {"gfx9-generic", 4, 10, 256, 64},
        {"gfx9-4-generic", 4, 8, 512, 64}, {"gfx10-3-generic", 2, 16, 512, 64},
    }));
    CAPTURE(row.processor);
    const ComputeUnit unit = compute_unit(row.processor);
    REQUIRE(unit.known());
    CHECK(unit.simds == row.simds);
    CHECK(unit.max_waves_per_simd == row.waves);
    CHECK(unit.vgprs == row.vgprs);
    CHECK(unit.lds_bytes == row.lds_kib * 1024);
}

TEST_CASE("processors outside the table are unknown", "[occupancy]") {
    for (const char* processor : {"", "gfx", "gfx90", "gfx9000", "gfx999", "gfx1250", "GFX90A", "gfx90a:xnack-"}) {
        CAPTURE(processor);
        CHECK_FALSE(compute_unit(processor).known());
    }
}

TEST_CASE("the scarcest resource limits, and is named", "[occupancy]") {
    struct Row {
        const char* processor;
        KernelResources kernel;
        std::uint32_t workgroups, waves_per_simd;
        OccupancyLimit limit;
    };
    using enum OccupancyLimit;
    const Row row = GENERATE(values<Row>({
        {"gfx900", {8, 16, 0, 256, 64}, 10, 10, wave_slots},
        {"gfx900", {25, 16, 0, 256, 64}, 9, 9, vgprs},
        {"gfx900", {256, 16, 0, 256, 64}, 1, 1, vgprs},
        {"gfx900", {8, 80, 0, 256, 64}, 10, 10, wave_slots},
        {"gfx900", {8, 81, 0, 256, 64}, 8, 8, sgprs},  // granules of 16: 96
        {"gfx900", {8, 96, 0, 256, 64}, 8, 8, sgprs},
        {"gfx900", {8, 97, 0, 256, 64}, 7, 7, sgprs},  // 112
        {"gfx900", {8, 16, 8192, 256, 64}, 8, 8, lds},
        {"gfx900", {8, 16, 8193, 256, 64}, 7, 7, lds},  // granules of 512 bytes
        {"gfx900", {8, 16, 65536, 256, 64}, 1, 1, lds},
        {"gfx900", {8, 16, 65537, 256, 64}, 0, 0, lds},
        {"gfx900", {8, 16, 0, 64, 64}, 40, 10, wave_slots},
        {"gfx900", {8, 16, 0, 65, 64}, 16, 8, workgroup_slots},  // two waves: a barrier each
        {"gfx900", {8, 16, 0, 1024, 64}, 2, 8, wave_slots},
        {"gfx900", {8, 16, 0, 1, 64}, 40, 10, wave_slots},
        {"gfx900", {8, 16, 0, 1025, 64}, 0, 0, workgroup_size},
        {"gfx90a", {8, 16, 0, 2048, 64}, 0, 0, workgroup_size},
        {"gfx1100", {8, 106, 0, 1088, 32, true}, 0, 0, workgroup_size},
        {"gfx90a", {64, 16, 0, 256, 64}, 8, 8, wave_slots},
        {"gfx90a", {65, 16, 0, 256, 64}, 7, 7, vgprs},
        {"gfx90a", {512, 16, 0, 256, 64}, 1, 1, vgprs},
        {"gfx90a", {512, 16, 0, 1024, 64}, 0, 0, vgprs},  // 16 waves need four times the registers of a SIMD
        {"gfx950", {8, 16, 65536, 256, 64}, 2, 2, lds},
        {"gfx1030", {8, 106, 0, 256, 32, false}, 4, 16, wave_slots},
        {"gfx1030", {8, 106, 0, 256, 32, true}, 8, 16, wave_slots},
        {"gfx1030", {65, 106, 0, 256, 32, true}, 6, 12, vgprs},
        {"gfx1030", {8, 106, 33000, 64, 32, true}, 3, 2, lds},
        {"gfx1030", {8, 106, 65536, 64, 32, true}, 2, 1, lds},
        {"gfx1030", {8, 106, 65537, 64, 32, true}, 0, 0, lds},  // the pair has more, a work-group may not
        {"gfx1010", {8, 106, 5121, 64, 32, false}, 11, 11, lds},
        {"gfx1030", {8, 106, 5121, 64, 32, false}, 10, 10, lds},  // granules of 1024 bytes
        {"gfx1100", {8, 106, 5121, 64, 32, false}, 10, 10, lds},
        {"gfx1201", {8, 106, 5121, 64, 32, false}, 10, 10, lds},
        {"gfx908", {64, 16, 0, 256, 64, false, 40}, 4, 4, vgprs},
        {"gfx908", {40, 16, 0, 256, 64, false, 64}, 4, 4, agprs},  // a separate register file
        {"gfx908", {64, 16, 0, 256, 64, false, 64}, 4, 4, agprs},  // as in metadata: the larger of both
        {"gfx90a", {104, 16, 0, 256, 64, false, 40}, 4, 4, vgprs},
        {"gfx90a", {104, 16, 0, 256, 64, false, 64}, 4, 4, agprs},   // of one file, the larger part
        {"gfx906", {104, 16, 0, 256, 64, false, 104}, 2, 2, vgprs},  // without AGPRs
        {"gfx1100", {97, 106, 0, 256, 32, true}, 6, 12, vgprs},
        {"gfx1100", {49, 106, 0, 256, 64, true}, 12, 12, vgprs},
    }));
    CAPTURE(row.processor, row.kernel.vgprs, row.kernel.sgprs, row.kernel.lds_bytes, row.kernel.workgroup_workitems);
    const Occupancy held = of(row.processor, row.kernel);
    CHECK(held.workgroups == row.workgroups);
    CHECK(held.waves_per_simd == row.waves_per_simd);
    CHECK(std::string(to_string(held.limit)) == to_string(row.limit));
    CHECK(held.waves_per_simd <= held.max_waves_per_simd);
    CHECK(held.waves == held.workgroups * held.waves_per_workgroup);
    CHECK(held.compute_units == (row.kernel.workgroup_processor_mode ? 2u : 1u));
}

TEST_CASE("accumulation registers begin at a multiple of four if they share a file", "[occupancy]") {
    struct Row {
        const char* processor;
        std::uint32_t vgprs, agprs, count;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx90a", 1, 0, 1},
        {"gfx90a", 1, 1, 5},
        {"gfx90a", 4, 1, 5},
        {"gfx90a", 5, 1, 9},
        {"gfx942", 101, 200, 304},
        {"gfx950", 101, 200, 304},
        {"gfx908", 101, 200, 200},
        {"gfx908", 200, 101, 200},
        {"gfx900", 7, 0, 7},
    }));
    CAPTURE(row.processor, row.vgprs, row.agprs);
    CHECK(vgpr_count(compute_unit(row.processor), row.vgprs, row.agprs) == row.count);
}

TEST_CASE("the largest work-group is the largest that registers and LDS allow", "[occupancy]") {
    struct Row {
        const char* processor;
        KernelResources kernel;
        std::uint32_t workitems;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx900", {64, 16, 0}, 1024},
        {"gfx900", {65, 16, 0}, 768},
        {"gfx900", {84, 16, 65536}, 768},
        {"gfx900", {128, 16, 0}, 512},
        {"gfx900", {256, 16, 0}, 256},
        {"gfx900", {257, 16, 0}, 0},
        {"gfx900", {8, 16, 65537}, 0},
        {"gfx90a", {128, 16, 0}, 1024},
        {"gfx90a", {512, 16, 0}, 256},
        {"gfx908", {64, 16, 0, 64, 64, false, 128}, 512},
        {"gfx1030", {256, 16, 0, 64, 32, true}, 512},
        {"gfx1030", {256, 16, 0, 64, 32, false}, 256},
    }));
    CAPTURE(row.processor, row.kernel.vgprs, row.kernel.lds_bytes);
    const ComputeUnit unit = compute_unit(row.processor);
    CHECK(largest_workgroup(unit, row.kernel) == row.workitems);
    KernelResources more = row.kernel;
    more.workgroup_workitems = row.workitems + 1;
    CHECK((row.workitems == unit.max_workgroup_workitems || occupancy(unit, more).workgroups == 0));
}

TEST_CASE("the allowance for an occupancy is exact: one granule more lowers it", "[occupancy]") {
    const char* processor = GENERATE("gfx701", "gfx803", "gfx900", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010",
                                     "gfx1030", "gfx1100", "gfx1201");
    const std::uint32_t size = GENERATE(32u, 64u, 100u, 256u, 320u, 1024u);
    const bool pair = GENERATE(false, true);
    const std::uint32_t wavefront_size = GENERATE(32u, 64u);
    CAPTURE(processor, size, pair, wavefront_size);
    const ComputeUnit unit = compute_unit(processor);
    if (wavefront_size == 32 && !unit.wide_registers) return;  // no such registers
    const KernelResources none{
        .workgroup_workitems = size, .wavefront_size = wavefront_size, .workgroup_processor_mode = pair};
    const std::uint32_t most = occupancy(unit, none).workgroups;
    REQUIRE(most > 0);
    CHECK(allowance(unit, none, 0).vgprs == 0);
    CHECK(allowance(unit, none, most + 1).lds_bytes == 0);
    for (std::uint32_t workgroups = 1; workgroups <= most; ++workgroups) {
        CAPTURE(workgroups);
        const Allowance may = allowance(unit, none, workgroups);
        const auto held = [&](std::uint32_t vgprs, std::uint32_t agprs, std::uint32_t sgprs, std::uint32_t lds) {
            KernelResources kernel = none;
            kernel.vgprs = vgprs, kernel.agprs = agprs, kernel.sgprs = sgprs, kernel.lds_bytes = lds;
            return occupancy(unit, kernel).workgroups;
        };
        CHECK(held(may.vgprs, may.agprs, may.sgprs, may.lds_bytes) >= workgroups);
        CHECK(held(may.vgprs + 1, 0, 0, 0) < workgroups);
        CHECK(held(0, 0, 0, may.lds_bytes + 1) < workgroups);
        if (unit.agprs) CHECK(held(0, may.agprs + 1, 0, 0) < workgroups);
        if (unit.sgprs && may.sgprs < unit.sgprs_of_wave) CHECK(held(0, 0, may.sgprs + 1, 0) < workgroups);
    }
}

TEST_CASE("if the compiler's definition differs, both figures are computed", "[occupancy]") {
    struct Row {
        const char* processor;
        KernelResources kernel;
        std::uint32_t compiler, held;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx900", {8, 81, 0, 256}, 9, 8},     // the compiler does not round scalar registers
        {"gfx900", {8, 98, 0, 256}, 8, 7},     //
        {"gfx701", {8, 97, 0, 256}, 5, 4},     //
        {"gfx900", {8, 16, 8191, 256}, 8, 8},  // nor LDS
        {"gfx900", {8, 16, 9362, 256}, 7, 6},  //
        {"gfx900", {36, 16, 0, 1024}, 7, 4},   // waves of half a work-group
        {"gfx900", {84, 16, 0, 1024}, 3, 0},   // no work-group, but the compiler never reports 0
        {"gfx900", {256, 16, 65536, 64}, 1, 1},
    }));
    CAPTURE(row.processor, row.kernel.vgprs, row.kernel.sgprs, row.kernel.lds_bytes);
    const ComputeUnit unit = compute_unit(row.processor);
    CHECK(compiler_waves_per_simd(unit, row.kernel) == row.compiler);
    CHECK(occupancy(unit, row.kernel).waves_per_simd == row.held);
}

TEST_CASE("extreme numbers do not overflow", "[occupancy]") {
    const Occupancy held = of("gfx90a", {0xffffffff, 0xffffffff, 0xffffffff, 1024, 64});
    CHECK(held.workgroups == 0);
    CHECK(of("gfx90a", {0, 0, 0, 0xffffffff, 64}).workgroups == 0);
    CHECK(of("gfx90a", {}).workgroups == 32);
}

TEST_CASE("every limit has a name", "[occupancy]") {
    CHECK(std::string(to_string(OccupancyLimit::wave_slots)) == "wave slots");
    CHECK(std::string(to_string(OccupancyLimit::workgroup_slots)) == "work-group slots");
    CHECK(std::string(to_string(OccupancyLimit::vgprs)) == "vector registers");
    CHECK(std::string(to_string(OccupancyLimit::agprs)) == "accumulation registers");
    CHECK(std::string(to_string(OccupancyLimit::sgprs)) == "scalar registers");
    CHECK(std::string(to_string(OccupancyLimit::lds)) == "LDS");
    CHECK(std::string(to_string(OccupancyLimit::workgroup_size)) == "the work-group's size");
}
