// Our occupancy against the compiler's own remarks (-Rpass-analysis=kernel-resource-usage), for the kernels of
// tests/shared/kernels/occupancy.cl: the same numbers, from the metadata of its output.
#include "shared/occupancy.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "hsadrv/code_object.hpp"
#include "hsadrv/kernel_occupancy.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;

namespace {

/// The compiler's remark on one function.
struct Remark {
    unsigned sgprs = 0, vgprs = 0, agprs = 0, scratch = 0, waves_per_simd = 0, sgpr_spills = 0, vgpr_spills = 0,
             lds_bytes = 0;
};

struct Compiled {
    std::map<std::string, Remark> remarks;  // by function
    CodeObject code;
    int version = 0;  // of clang
};

/// The number after `name` in a line, if present.
void read_number(const char* line, const char* name, unsigned& to) {
    if (const char* const at = std::strstr(line, name)) to = std::strtoul(at + std::strlen(name), nullptr, 10);
}

void read_remark(const char* line, Remark& remark) {
    read_number(line, " SGPRs: ", remark.sgprs);
    read_number(line, " TotalSGPRs: ", remark.sgprs);  // the name in newer compilers
    read_number(line, " VGPRs: ", remark.vgprs);
    read_number(line, " AGPRs: ", remark.agprs);
    read_number(line, " ScratchSize [bytes/lane]: ", remark.scratch);
    read_number(line, " Occupancy [waves/SIMD]: ", remark.waves_per_simd);
    read_number(line, " SGPRs Spill: ", remark.sgpr_spills);
    read_number(line, " VGPRs Spill: ", remark.vgpr_spills);
    read_number(line, " LDS Size [bytes/block]: ", remark.lds_bytes);
}

/// Its output by lines, and its exit code.
template <class Take>
int run(const std::string& command, const Take& take) {
    FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    char line[4096];
    while (std::fgets(line, sizeof line, pipe)) take(line);
    return pclose(pipe);
}

/// std::nullopt if this clang does not know the target. KERNEL_CLANG, which has a linker, links the object.
std::optional<Compiled> compile(const std::string& clang, const std::string& target, const std::string& options) {
    std::string folder = (std::filesystem::temp_directory_path() / "hsadrv-occupancy-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    const std::string object = folder + "/kernels.o", file = folder + "/kernels.hsaco";
    Compiled result;
    std::string output;
    run(clang + " -dumpversion", [&](const char* line) { result.version = std::atoi(line); });
    Remark* remark = nullptr;
    int status = run(clang +
                         " -c -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -nogpulib -O2 -w "
                         "-Rpass-analysis=kernel-resource-usage -mcpu=" +
                         target + " " + options + " " OCCUPANCY_KERNELS " -o " + object,
                     [&](const char* line) {
                         output += line;
                         char name[64];
                         const char* const at = std::strstr(line, "Function Name: ");
                         if (at && std::sscanf(at, "Function Name: %63s", name) == 1) remark = &result.remarks[name];
                         if (remark) read_remark(line, *remark);
                     });
    if (status == 0) {
        status = run(KERNEL_CLANG " --target=amdgcn-amd-amdhsa " + object + " -o " + file,
                     [&](const char* line) { output += line; });
    }
    if (status == 0) result.code = read_code_object(read_file(file));
    std::filesystem::remove_all(folder);
    if (output.find("invalid target ID") != std::string::npos) return std::nullopt;
    INFO(output);
    REQUIRE(status == 0);
    return result;
}

shared::KernelResources as_compiled(const KernelMetadata& kernel) {
    return resources_of(kernel, kernel.max_flat_workgroup_size, kernel.group_segment_fixed_bytes);
}

/// Values that are in the remark and in the metadata.
void check_same_facts(const shared::ComputeUnit& unit, const KernelMetadata& kernel, const Remark& remark) {
    CHECK(kernel.vgpr_count == shared::vgpr_count(unit, remark.vgprs, remark.agprs));
    CHECK(kernel.sgpr_count == remark.sgprs);
    // Only kernels with a given number of waves request more registers than they use.
    const bool told = kernel.name.starts_with("at_most_") || kernel.name.starts_with("exactly_");
    CHECK((told || kernel.vgpr_floor <= kernel.vgpr_count));
    CHECK((told || kernel.sgpr_floor <= kernel.sgpr_count));
    CHECK(kernel.agpr_count == remark.agprs);
    CHECK(kernel.group_segment_fixed_bytes == remark.lds_bytes);
    CHECK(kernel.private_segment_fixed_bytes == remark.scratch);
    CHECK(kernel.sgpr_spill_count == remark.sgpr_spills);
    CHECK(kernel.vgpr_spill_count == remark.vgpr_spills);
}

void compare(const std::string& clang, const std::string& target, const std::string& options) {
    CAPTURE(clang, target, options);
    const auto compiled = compile(clang, target, options);
    if (!compiled) SKIP_BECAUSE(clang + " does not know " + target);
    const shared::ComputeUnit unit = shared::compute_unit(target.c_str());
    REQUIRE(unit.known());
    CHECK(compiled->code.kernels.size() >= 80);
    std::size_t ours_too = 0;
    for (const KernelMetadata& kernel : compiled->code.kernels) {
        const auto said = compiled->remarks.find(kernel.name);
        CAPTURE(kernel.name, kernel.vgpr_count, kernel.agpr_count, kernel.sgpr_count, kernel.group_segment_fixed_bytes,
                kernel.max_flat_workgroup_size, kernel.wavefront_size, kernel.workgroup_processor_mode);
        REQUIRE(said != compiled->remarks.end());
        const Remark& remark = said->second;
        check_same_facts(unit, kernel, remark);
        const std::uint32_t waves = compiler_waves_per_simd(unit, as_compiled(kernel));
        // If the work-group's size is a range, newer compilers choose another value from it.
        if (compiled->version >= 20 && kernel.name.starts_with("range_")) {
            CHECK(waves <= remark.waves_per_simd);
        } else {
            CHECK(waves == remark.waves_per_simd);
        }
        const shared::Occupancy held = occupancy(unit, as_compiled(kernel));
        CHECK(held.waves_per_simd <= remark.waves_per_simd);
        ours_too += held.waves_per_simd == remark.waves_per_simd;
    }
    std::printf("%s, %s %s: the compiler's figure for %zu kernels; %zu of them are held so\n", clang.c_str(),
                target.c_str(), options.c_str(), compiled->code.kernels.size(), ours_too);
    CHECK(ours_too >= 50);
}

}  // namespace

TEST_CASE("the occupancy of every kernel is the one that the compiler prints", "[occupancy]") {
    struct Row {
        const char *target, *options;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx900", "-mcode-object-version=5"},
        {"gfx906", "-mcode-object-version=5"},
        {"gfx908", "-mcode-object-version=5"},
        {"gfx90a", "-mcode-object-version=5"},
        {"gfx942", "-mcode-object-version=5"},
        {"gfx701", "-mcode-object-version=5"},
        {"gfx803", "-mcode-object-version=5"},
        {"gfx90c", "-mcode-object-version=5"},
        {"gfx9-generic", "-mcode-object-version=6"},
        {"gfx1010", "-mcode-object-version=5"},
        {"gfx1030", "-mcode-object-version=5"},
        {"gfx1030", "-mcode-object-version=4 -mcumode"},
        {"gfx1030", "-mcode-object-version=4 -mwavefrontsize64"},
        {"gfx1100", "-mcode-object-version=5"},
        {"gfx1100", "-mcode-object-version=5 -mcumode -mwavefrontsize64"},
        {"gfx1102", "-mcode-object-version=5"},
        {"gfx1151", "-mcode-object-version=5"},
        {"gfx1201", "-mcode-object-version=5"},
    }));
    compare(KERNEL_CLANG, row.target, row.options);
}

TEST_CASE("the occupancy of every kernel is the one that the compiler prints for a target of LLVM 20", "[occupancy]") {
    compare(KERNEL_CLANG, "gfx950", "-mcode-object-version=5");
}

#ifdef OLDER_CLANG
TEST_CASE("the occupancy of every kernel is the one that an older compiler prints", "[occupancy]") {
    const std::string target = GENERATE("gfx900", "gfx906", "gfx908", "gfx90a", "gfx940", "gfx1030");
    compare(OLDER_CLANG, target, "-mcode-object-version=4");
}
#endif

TEST_CASE("the work-group processor mode is known for every version", "[occupancy]") {
    const std::string version = GENERATE("4", "5");
    const bool one = GENERATE(false, true);
    CAPTURE(version, one);
    const auto compiled =
        compile(KERNEL_CLANG, "gfx1030", "-mcode-object-version=" + version + (one ? " -mcumode" : ""));
    REQUIRE(compiled);
    for (const KernelMetadata& kernel : compiled->code.kernels) CHECK(kernel.workgroup_processor_mode == !one);
}
