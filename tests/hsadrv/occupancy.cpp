// Our occupancy against the compiler's own (-Rpass-analysis=kernel-resource-usage), for kernels made to need
// registers and LDS: the same numbers from the metadata of what it compiled.
#include "shared/occupancy.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "code_objects.hpp"
#include "hsadrv/code_object.hpp"
#include "support/catch.hpp"

using namespace hsadrv;
using namespace test_support;

namespace {

struct Need {
    unsigned vgprs, agprs, sgprs, lds_bytes, workgroup;
};

// LDS in whole granules, which the compiler does not round to. Of scalar registers no 81 to 88 and 97 to 100:
// for these compilers count one wave more than granules of 16 give.
constexpr Need needs[] = {
    {8, 0, 8, 0, 256},     {24, 0, 8, 0, 256},     {25, 0, 8, 0, 256},      {33, 0, 8, 0, 256},
    {49, 0, 8, 0, 256},    {64, 0, 8, 0, 256},     {65, 0, 8, 0, 256},      {84, 0, 8, 0, 256},
    {97, 0, 8, 0, 256},    {128, 0, 8, 0, 256},    {129, 0, 8, 0, 256},     {200, 0, 8, 0, 256},
    {256, 0, 8, 0, 256},   {8, 0, 60, 0, 256},     {8, 0, 90, 0, 256},      {8, 0, 8, 0, 64},
    {8, 0, 8, 0, 128},     {8, 0, 8, 0, 512},      {8, 0, 8, 0, 1024},      {8, 0, 8, 4096, 64},
    {8, 0, 8, 4608, 64},   {8, 0, 8, 8192, 256},   {8, 0, 8, 8704, 256},    {8, 0, 8, 16384, 1024},
    {8, 0, 8, 33280, 256}, {8, 0, 8, 65536, 1024}, {100, 0, 8, 20480, 512}, {40, 60, 8, 0, 256},
    {127, 10, 8, 0, 256},  {101, 200, 8, 0, 256},
};

bool has_agprs(const std::string& target) {
    return target == "gfx908" || target == "gfx90a" || target == "gfx942";
}

std::string source(const std::string& target) {
    std::string text;
    unsigned index = 0;
    for (const Need& need : needs) {
        std::string registers =
            "\"v" + std::to_string(need.vgprs - 1) + "\",\"s" + std::to_string(need.sgprs - 1) + "\"";
        if (need.agprs && has_agprs(target)) registers += ",\"a" + std::to_string(need.agprs - 1) + "\"";
        std::string lds;
        if (need.lds_bytes) {
            lds = "__local volatile char lds[" + std::to_string(need.lds_bytes) +
                  "]; lds[__builtin_amdgcn_workitem_id_x()] = 1; p[1] = lds[3]; ";
        }
        text += "__kernel __attribute__((amdgpu_flat_work_group_size(1," + std::to_string(need.workgroup) +
                "))) void k" + std::to_string(index++) + "(__global int* p) { " + lds +
                "p[0] = 1; __asm__ volatile(\"\" ::: " + registers + "); }\n";
    }
    return text;
}

struct Compiled {
    std::map<std::string, unsigned> waves_per_simd;  // by kernel, as the compiler prints it
    CodeObject code;
};

/// Nothing if this clang does not know the target.
std::optional<Compiled> compile(const std::string& target) {
    std::string folder = (std::filesystem::temp_directory_path() / "hsadrv-occupancy-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    const std::string file = folder + "/kernels";
    std::ofstream(file + ".cl") << source(target);
    const std::string command =
        KERNEL_CLANG
        " -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -nogpulib -O2 -mcode-object-version=5 "
        "-Rpass-analysis=kernel-resource-usage -mcpu=" +
        target + " " + file + ".cl -o " + file + ".hsaco 2>&1";
    Compiled result;
    std::string output, kernel;
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    std::array<char, 4096> line;
    while (std::fgets(line.data(), line.size(), pipe)) {
        char name[64];
        unsigned waves = 0;
        output += line.data();
        const char* const remark = std::strstr(line.data(), "remark: ");
        if (!remark) continue;
        if (std::sscanf(remark, "remark: %*[^F]Function Name: %63s", name) == 1 ||
            std::sscanf(remark, "remark: Function Name: %63s", name) == 1)
            kernel = name;
        if (const char* const at = std::strstr(remark, "Occupancy [waves/SIMD]: ");
            at && std::sscanf(at, "Occupancy [waves/SIMD]: %u", &waves) == 1)
            result.waves_per_simd[kernel] = waves;
    }
    const int status = pclose(pipe);
    if (status == 0) result.code = read_code_object(read_file(file + ".hsaco"));
    std::filesystem::remove_all(folder);
    if (output.find("invalid target ID") != std::string::npos) return std::nullopt;
    INFO(output);
    REQUIRE(status == 0);
    return result;
}

}  // namespace

TEST_CASE("the compiler counts as many waves as we do", "[occupancy]") {
    const std::string target = GENERATE("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010",
                                        "gfx1030", "gfx1100", "gfx1102", "gfx1151", "gfx1201");
    CAPTURE(target);
    const auto compiled = compile(target);
    if (!compiled) SKIP_BECAUSE("this clang does not know " + target);
    const shared::ComputeUnit unit = shared::compute_unit(target.c_str());
    REQUIRE(compiled->code.kernels.size() == std::size(needs));
    for (const KernelMetadata& kernel : compiled->code.kernels) {
        const auto said = compiled->waves_per_simd.find(kernel.name);
        REQUIRE(said != compiled->waves_per_simd.end());
        // The compiler looks at registers a wave at a time, and at all else a work-group at a time.
        const shared::Occupancy but_registers =
            shared::occupancy(unit, {.lds_bytes = kernel.group_segment_fixed_bytes,
                                     .workgroup_workitems = kernel.max_flat_workgroup_size,
                                     .wavefront_size = kernel.wavefront_size,
                                     .workgroup_processor_mode = kernel.workgroup_processor_mode});
        const std::uint32_t waves =
            std::min({shared::waves_by_vgprs(unit, kernel.vgpr_count, kernel.wavefront_size),
                      shared::waves_by_sgprs(unit, kernel.sgpr_count), but_registers.waves_per_simd});
        CAPTURE(kernel.name, kernel.vgpr_count, kernel.agpr_count, kernel.sgpr_count,
                kernel.group_segment_fixed_bytes, kernel.max_flat_workgroup_size, kernel.wavefront_size);
        CHECK(waves == said->second);
    }
}

TEST_CASE("what limits is said in words", "[occupancy]") {
    using shared::OccupancyLimit;
    CHECK(to_string(OccupancyLimit::wave_slots) == std::string("wave slots"));
    CHECK(to_string(OccupancyLimit::workgroup_slots) == std::string("work-group slots"));
    CHECK(to_string(OccupancyLimit::vgprs) == std::string("vector registers"));
    CHECK(to_string(OccupancyLimit::sgprs) == std::string("scalar registers"));
    CHECK(to_string(OccupancyLimit::lds) == std::string("LDS"));
}
