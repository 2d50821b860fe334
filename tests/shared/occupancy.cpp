#include "shared/occupancy.hpp"

#include <string>

#include "support/catch.hpp"

using namespace hsadrv::shared;

namespace {

constexpr Occupancy of(const char* processor, const KernelResources& kernel) {
    return occupancy(compute_unit(processor), kernel);
}

// It is a constant expression, as the header says.
static_assert(of("gfx90a", {.vgprs = 128, .sgprs = 32, .workgroup_workitems = 256}).waves_per_simd == 4);

}  // namespace

TEST_CASE("every processor has its compute units, whatever else begins like it", "[occupancy]") {
    struct Row {
        const char* processor;
        std::uint32_t simds, waves, vgprs, lds_kib;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx701", 4, 10, 256, 64},        {"gfx803", 4, 10, 256, 64},
        {"gfx900", 4, 10, 256, 64},        {"gfx906", 4, 10, 256, 64},
        {"gfx908", 4, 10, 256, 64},        {"gfx90a", 4, 8, 512, 64},
        {"gfx90c", 4, 10, 256, 64},        {"gfx942", 4, 8, 512, 64},
        {"gfx950", 4, 8, 512, 160},        {"gfx1010", 2, 20, 512, 64},
        {"gfx1030", 2, 16, 512, 64},       {"gfx1036", 2, 16, 512, 64},
        {"gfx1100", 2, 16, 768, 64},       {"gfx1102", 2, 16, 512, 64},
        {"gfx1151", 2, 16, 768, 64},       {"gfx1152", 2, 16, 512, 64},
        {"gfx1201", 2, 16, 768, 64},       {"gfx9-generic", 4, 10, 256, 64},
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

TEST_CASE("what is not in the table is not known", "[occupancy]") {
    for (const char* processor :
         {"", "gfx", "gfx90", "gfx9000", "gfx999", "gfx1250", "GFX90A", "gfx90a:xnack-"}) {
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
        {"gfx90a", {64, 16, 0, 256, 64}, 8, 8, wave_slots},
        {"gfx90a", {65, 16, 0, 256, 64}, 7, 7, vgprs},
        {"gfx90a", {512, 16, 0, 256, 64}, 1, 1, vgprs},
        {"gfx90a", {512, 16, 0, 1024, 64}, 0, 0, vgprs},  // 16 waves need four times a SIMD's registers
        {"gfx950", {8, 16, 65536, 256, 64}, 2, 2, lds},
        {"gfx1030", {8, 106, 0, 256, 32, false}, 4, 16, wave_slots},
        {"gfx1030", {8, 106, 0, 256, 32, true}, 8, 16, wave_slots},
        {"gfx1030", {65, 106, 0, 256, 32, true}, 6, 12, vgprs},
        {"gfx1030", {8, 106, 33000, 64, 32, true}, 3, 2, lds},
        {"gfx1100", {97, 106, 0, 256, 32, true}, 6, 12, vgprs},
        {"gfx1100", {49, 106, 0, 256, 64, true}, 12, 12, vgprs},
    }));
    CAPTURE(row.processor, row.kernel.vgprs, row.kernel.sgprs, row.kernel.lds_bytes,
            row.kernel.workgroup_workitems);
    const Occupancy held = of(row.processor, row.kernel);
    CHECK(held.workgroups == row.workgroups);
    CHECK(held.waves_per_simd == row.waves_per_simd);
    CHECK(std::string(to_string(held.limit)) == to_string(row.limit));
    CHECK(held.waves_per_simd <= held.max_waves_per_simd);
}

TEST_CASE("numbers that no kernel has overflow nothing", "[occupancy]") {
    const Occupancy held = of("gfx90a", {0xffffffff, 0xffffffff, 0xffffffff, 1024, 64});
    CHECK(held.workgroups == 0);
    CHECK(of("gfx90a", {0, 0, 0, 0xffffffff, 64}).workgroups == 0);
    CHECK(of("gfx90a", {}).workgroups == 32);
}

TEST_CASE("every limit has a name", "[occupancy]") {
    CHECK(std::string(to_string(OccupancyLimit::wave_slots)) == "wave slots");
    CHECK(std::string(to_string(OccupancyLimit::workgroup_slots)) == "work-group slots");
    CHECK(std::string(to_string(OccupancyLimit::vgprs)) == "vector registers");
    CHECK(std::string(to_string(OccupancyLimit::sgprs)) == "scalar registers");
    CHECK(std::string(to_string(OccupancyLimit::lds)) == "LDS");
}
