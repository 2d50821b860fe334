// hsadrv-cc's parts that are functions of text and values.
#include <array>
#include <string>
#include <vector>

#include "hsadrv/compile/advice.hpp"
#include "hsadrv/compile/clang.hpp"
#include "tests/support/catch.hpp"
#include "tools/common/process.hpp"
#include "tools/hsadrv-cc/commands.hpp"
#include "tools/hsadrv-cc/depfile.hpp"
#include "tools/hsadrv-cc/failure.hpp"
#include "tools/hsadrv-cc/report.hpp"
#include "tools/hsadrv-cc/targets.hpp"

using namespace hsadrv_cc;
using hsadrv::TargetId;
using hsadrv::detail::version_after;
using test_support::Contains;

namespace {

hsadrv::KernelMetadata kernel(std::uint32_t vgprs, std::uint32_t max_workgroup) {
    hsadrv::KernelMetadata made;
    made.name = "k";
    made.vgpr_count = vgprs;
    made.sgpr_count = 16;
    made.wavefront_size = 64;
    made.max_flat_workgroup_size = max_workgroup;
    return made;
}

Made made_of(const std::string& target, std::vector<hsadrv::KernelMetadata> kernels) {
    Made made;
    made.output = "k.hsaco";
    made.size_bytes = 5000;
    made.objects.resize(1);
    made.objects[0].code.version = 5;
    made.objects[0].code.target = TargetId::parse(target);
    made.objects[0].code.kernels = std::move(kernels);
    made.objects[0].size_bytes = 5000;
    return made;
}

std::string why_not(const std::vector<std::string>& targets) {
    try {
        parse_targets(targets);
    } catch (const Failure& failure) {
        REQUIRE(failure.status() == static_cast<int>(ExitStatus::usage));
        return failure.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a known defect of a clang version gives a warning, other versions none") {
    CHECK(hsadrv::detail::warning_on(16, "0").find("clang 16 at -O0") == 0);
    CHECK(hsadrv::detail::warning_on(16, "1").empty());
    CHECK(hsadrv::detail::warning_on(17, "0").empty());
}

TEST_CASE("depfiles of several sources become one rule, each name once", "[hsadrv-cc]") {
    const std::array<std::string, 3> texts{"k.hsaco: a.cpp \\\n  common.hpp\n",
                                           "k.hsaco: b.cpp common.hpp \\\n other.hpp\n", "k.hsaco: a.cpp\n"};
    REQUIRE(merge_depfiles(texts) == "k.hsaco: \\\n  a.cpp \\\n  common.hpp \\\n  b.cpp \\\n  other.hpp\n");
}

TEST_CASE("names in depfiles keep their escapes", "[hsadrv-cc]") {
    const std::array<std::string, 1> texts{"my\\ k.hsaco: a\\ b.cpp \\\n  c\\#.hpp $$d.hpp e\\f.hpp\n"};
    REQUIRE(merge_depfiles(texts) == "my\\ k.hsaco: \\\n  a\\ b.cpp \\\n  c\\#.hpp \\\n  $$d.hpp \\\n  e\\f.hpp\n");
}

TEST_CASE("a version is found in the output of compilers and linkers", "[hsadrv-cc]") {
    const auto [text, word, version] = GENERATE(table<std::string, std::string, std::string>({
        {"Debian clang version 19.1.7 (3~deb12u1)\nTarget: x86_64", "clang version", "19.1.7"},
        {"AMD clang version 17.0.0 (https://…)", "clang version", "17.0.0"},
        {"clang version 20.1.0git", "clang version", "20.1.0"},
        {"Debian LLD 16.0.6 (compatible with GNU linkers)", "LLD", "16.0.6"},
        {"gcc (Debian 12.2.0) 12.2.0", "clang version", ""},
        {"clang version", "clang version", ""},
        {"", "LLD", ""},
    }));
    REQUIRE(version_after(text, word) == version);
}

TEST_CASE("the kernel driver's version number names a processor", "[hsadrv-cc]") {
    const auto [number, name] = GENERATE(table<std::uint32_t, std::string>({{90000, "gfx900"},
                                                                            {90010, "gfx90a"},
                                                                            {90402, "gfx942"},
                                                                            {90500, "gfx950"},
                                                                            {100300, "gfx1030"},
                                                                            {110001, "gfx1101"},
                                                                            {90012, "gfx90c"}}));
    REQUIRE(processor_of(number) == name);
}

TEST_CASE("a target is compiled for once, and not twice for the same GPU", "[hsadrv-cc]") {
    REQUIRE(parse_targets(std::vector<std::string>{"gfx90a", "gfx900", "amdgcn-amd-amdhsa--gfx90a"}).size() == 2);
    REQUIRE(parse_targets(std::vector<std::string>{"gfx90a:xnack+", "gfx90a:xnack-", "gfx908"}).size() == 3);
    REQUIRE_THAT(why_not({"gfx90a", "gfx900", "gfx90a:xnack+"}),
                 Contains("--target gfx90a and --target gfx90a:xnack+ conflict"));
    REQUIRE_THAT(why_not({"gfx90a:sramecc+", "gfx90a"}), Contains("specify sramecc in both"));
    REQUIRE_THAT(why_not({"gfx90a:sramecc+:xnack-", "gfx90a:sramecc+"}), Contains("specify xnack in both"));
    REQUIRE_THAT(why_not({"sm_90"}), Contains("'sm_90' is not a processor name"));
}

TEST_CASE("commands are shown as a shell takes them", "[hsadrv-cc]") {
    REQUIRE(tools::shell_words({"clang-19", "-DX=1", "--target=a,b"}) == "clang-19 -DX=1 --target=a,b");
    REQUIRE(tools::shell_words({"a b", "", "it's", "$x", "k#.cl"}) == "'a b' '' 'it'\\''s' '$x' 'k#.cl'");
}

TEST_CASE("options after -- follow our own options", "[hsadrv-cc]") {
    Options options;
    options.output = "k.hsaco";
    options.clang_options = {"-std=c++23"};
    Clang clang;
    clang.path = "clang";
    clang.major = 19;
    const Command command = compile_command({options, clang, "/headers"}, TargetId::parse("gfx90a:xnack+"),
                                            {"k.cpp", "@k.cpp"}, Product::code, "out", "k.d");
    const std::string text = tools::shell_words(command);
    REQUIRE_THAT(text, Contains("-mcpu=gfx90a:xnack+"));
    REQUIRE_THAT(text, Contains("-isystem /headers"));
    REQUIRE_THAT(text, Contains("-MD -MF k.d -MQ k.hsaco"));
    REQUIRE(text.find("-std=c++20") < text.find("-std=c++23"));
    REQUIRE_THAT(text, Contains(" ./@k.cpp -o out"));
}

TEST_CASE("the linker of clang 16 gets options that are later defaults", "[hsadrv-cc]") {
    Options options;
    options.level = "s";
    Clang clang;
    clang.path = "clang";
    const std::vector<std::string> inputs{"0.o", "1.o"};
    const TargetId target = TargetId::parse("gfx90a:xnack+");
    for (unsigned major : {16u, 19u}) {
        clang.major = major;
        const std::string text = tools::shell_words(link_command({options, clang, ""}, target, inputs, "out"));
        REQUIRE_THAT(text, Contains("-Wl,-plugin-opt=mcpu=gfx90a -Wl,-plugin-opt=O2"));
        REQUIRE((text.find("-plugin-opt=-amdhsa-code-object-version=5") != text.npos) == (major == 16));
        REQUIRE_THAT(text, Contains(" 0.o 1.o -o out"));
    }
}

TEST_CASE("occupancy is given for a work-group that the kernel accepts", "[hsadrv-cc]") {
    hsadrv::KernelMetadata required = kernel(8, 1024);
    required.required_workgroup_size = {8, 8, 2};
    REQUIRE(stated_workgroup(required, 256) == 128);
    REQUIRE(stated_workgroup(kernel(8, 1024), 256) == 256);
    REQUIRE(stated_workgroup(kernel(8, 64), 256) == 64);
    REQUIRE(stated_workgroup(kernel(8, 0), 256) == 1);
}

TEST_CASE("the table has registers, LDS, scratch, work-groups and the limit", "[hsadrv-cc]") {
    hsadrv::KernelMetadata full = kernel(128, 256);
    full.name = "a_long_name";
    full.agpr_count = 32;
    full.group_segment_fixed_bytes = 1024;
    full.private_segment_fixed_bytes = 64;
    full.uses_dynamic_stack = true;
    full.vgpr_spill_count = 3;
    full.sgpr_spill_count = 4;
    full.arguments.resize(1);
    full.arguments[0].kind = hsadrv::ValueKind::dynamic_shared_pointer;
    const std::string text = as_table(made_of("gfx90a:xnack-", {full, kernel(8, 64)}), 256);
    REQUIRE(text ==
            "k.hsaco for gfx90a:xnack-: 5000 bytes, code object V5\n"
            "  kernel       VGPRs  AGPRs  SGPRs    LDS  scratch  spills  work-group  occupancy\n"
            "  a_long_name    128     32     16  1024+      64+       7  1 to 256    4 of 8 waves a SIMD, by "
            "vector registers (256 work-items)\n"
            "  k                8      0     16      0        0       0  1 to 64     8 of 8 waves a SIMD, by "
            "wave slots (64 work-items)\n");
}

TEST_CASE("a kernel that does not fit, and an unknown GPU", "[hsadrv-cc]") {
    hsadrv::KernelMetadata large = kernel(8, 256);
    large.group_segment_fixed_bytes = 70000;
    REQUIRE_THAT(as_table(made_of("gfx90a", {large}), 256), Contains("none: 256 work-items are too many, by LDS"));
    REQUIRE_THAT(as_table(made_of("gfx600", {kernel(8, 256)}), 256),
                 Contains("unknown: no table of this GPU's compute units"));
    REQUIRE_THAT(as_json(made_of("gfx600", {kernel(8, 256)}), 256), Contains("\"occupancy\": null"));
    REQUIRE_THAT(as_table(made_of("gfx90a", {}), 256), Contains("no kernels"));
}

TEST_CASE("a bundle has a separate line", "[hsadrv-cc]") {
    Made made = made_of("gfx90a", {});
    made.bundle = true;
    made.size_bytes = 20480;
    REQUIRE_THAT(as_table(made, 256), Contains("k.hsaco: a bundle, 20 KiB\n"));
    made.compressed = true;
    REQUIRE_THAT(as_table(made, 256), Contains("k.hsaco: a compressed bundle, 20 KiB\n"));
}

TEST_CASE("undefined symbols of a code object are listed", "[hsadrv-cc]") {
    Made made = made_of("gfx90a", {});
    REQUIRE_THAT(as_json(made, 256), Contains("\"needs\": []"));
    made.objects[0].code.undefined = {"table", "counter"};
    REQUIRE_THAT(as_table(made, 256), Contains("  needs table, counter, which no source defines\n"));
    REQUIRE_THAT(as_json(made, 256), Contains("\"needs\": [\"table\", \"counter\"]"));
}

TEST_CASE("JSON text is escaped", "[hsadrv-cc]") {
    Made made = made_of("gfx90a", {kernel(8, 256)});
    made.output = "a\"b\\c\n.hsaco";
    const std::string text = as_json(made, 256);
    REQUIRE_THAT(text, Contains(R"("output": "a\"b\\c\n.hsaco")"));
    REQUIRE_THAT(text, Contains(R"("required_workgroup": null, "max_workgroup": 256)"));
    REQUIRE_THAT(text, Contains(R"("waves_per_simd": 8, "max_waves_per_simd": 8, "limit": "wave slots")"));
}
