// hsadrv objdump's parts that are functions of bytes and values.
#include <algorithm>

#include "hsadrv/code_object.hpp"
#include "hsadrv/file_bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/host_elf.hpp"
#include "tests/support/packed_bundle.hpp"
#include "tools/common/failure.hpp"
#include "tools/hsadrv/exit_status.hpp"
#include "tools/hsadrv/objdump/chosen.hpp"
#include "tools/hsadrv/objdump/contents.hpp"
#include "tools/hsadrv/objdump/disassembly.hpp"
#include "tools/hsadrv/objdump/report_json.hpp"
#include "tools/hsadrv/objdump/text.hpp"
#include "tools/hsadrv/objdump/words.hpp"

namespace hsadrv_tool::objdump {

using test_support::Contains;

namespace {

Bytes kernels(const std::string& name) { return hsadrv::read_file(TEST_KERNEL_DIR "/" + name); }

Facts facts_of(Contents contents, const Options& options = {}) {
    std::vector<Contents> all;
    all.push_back(std::move(contents));
    return choose(std::move(all), options);
}

std::string why_not(const std::string& file, const Options& options) {
    try {
        facts_of(read_contents(file, kernels(file)), options);
    } catch (const tools::Failure& failure) {
        REQUIRE(failure.status() == exit_status::usage);
        return failure.what();
    }
    return "";
}

/// Whatever there is of it: text and JSON can be made of it, and an error has words.
void check_cut(const Bytes& file, std::size_t size) {
    Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    cut.shrink_to_fit();
    Contents contents = read_contents("cut", std::move(cut));
    const bool broken_entry =
        std::any_of(contents.entries.begin(), contents.entries.end(), [](const Entry& entry) { return !entry.code; });
    if (contents.error.empty() && !broken_entry) FAIL("the first " << size << " bytes are taken for the whole");
    const Facts facts = facts_of(std::move(contents));
    if (as_text(facts, {}, {}).size() > 100000 || as_json(facts)["files"].size() != 1)
        FAIL("nothing can be told of " << size << " bytes");
}

}  // namespace

TEST_CASE("a file truncated anywhere is reported as such", "[objdump]") {
    const Bytes code = kernels("stripped.gfx90a.hsaco"), bundle = kernels("fill.hsaco"),
                compressed = kernels("launch.ccob");
    const Bytes host = test_support::host_elf(
        {{".hip_fatbin", compressed},
         {".llvm.offloading", test_support::offload_binary("amdgcn-amd-amdhsa", "gfx90a", code)}});
    for (const Bytes* file : {&code, &bundle, &compressed, &host}) {
        for (std::size_t size = 0; size < file->size(); ++size) check_cut(*file, size);
        CHECK(read_contents("whole", *file).error.empty());
    }
}

TEST_CASE("a host program's bundles are distinguished", "[objdump]") {
    const Bytes code = kernels("launch.gfx90a.v5.O2.hsaco");
    const Contents contents = read_contents(
        "program", test_support::host_elf(
                       {{".hip_fatbin", kernels("globals.hsaco")},
                        {".llvm.offloading", test_support::offload_binary("amdgcn-amd-amdhsa", "gfx90a", code)}}));
    REQUIRE(contents.error.empty());
    REQUIRE(contents.bundles.size() == 2);
    CHECK(contents.bundles[1].kind == Bundle::Kind::offload_binary);
    CHECK(contents.entries.back().bundle == 1u);
    CHECK(contents.entries.back().code->find("saxpy"));
    CHECK_THAT(
        as_text(facts_of(read_contents("program", test_support::host_elf({{".hip_fatbin", kernels("globals.hsaco")}}))),
                {}, {}),
        Contains("program: ELF program or library for x86-64 with 1 bundle for GPUs"));
}

TEST_CASE("bitcode and static libraries are refused by their kind", "[objdump]") {
    const auto bytes = [](std::string_view text) {
        const auto* data = reinterpret_cast<const std::byte*>(text.data());
        return Bytes(data, data + text.size());
    };
    CHECK_THAT(read_contents("k.bc", bytes("BC\xc0\xde and so on")).error, Contains("LLVM bitcode, not linked yet"));
    CHECK_THAT(read_contents("k.a", bytes("!<arch>\nand so on")).error, Contains("ar x"));
}

TEST_CASE("a target matches any setting of the features that are not given", "[objdump]") {
    const auto chosen = [](const std::string& target) {
        Options options;
        options.target = target;
        std::vector<std::string> names;
        std::vector<Contents> all;
        for (const char* file :
             {"features.gfx90a.xnack_on.hsaco", "features.gfx90a.xnack_off.hsaco", "stripped.gfx90a.hsaco"})
            all.push_back(read_contents(file, kernels(file)));
        for (const FileFacts& file : choose(std::move(all), options).files)
            for (const EntryFacts& entry : file.entries) names.push_back(entry.entry->target()->name());
        return names;
    };
    using Names = std::vector<std::string>;
    CHECK(chosen("gfx90a").size() == 3);
    CHECK(chosen("gfx90a:xnack+") == Names{"gfx90a:xnack+"});
    CHECK(chosen("amdgcn-amd-amdhsa--gfx90a:xnack-") == Names{"gfx90a:xnack-"});
}

TEST_CASE("names that were not found are listed", "[objdump]") {
    Options options;
    options.kernel = "saxpi";
    CHECK_THAT(why_not("launch.hsaco", options), Contains("did you mean saxpy?; there are at_most, exactly, hidden, "));
    options = {};
    options.target = "gfx1200";
    CHECK_THAT(why_not("launch.hsaco", options),
               Contains("there is for gfx") && Contains("gfx900") && Contains("gfx90a"));
}

TEST_CASE("a work-group that no kernel accepts is refused with launch's message", "[objdump]") {
    Options options;
    options.kernel = "exactly";
    options.workgroup = hsadrv::Dim3(64);
    CHECK(why_not("launch.hsaco", options) ==
          "launch of kernel 'exactly': work-group 64x1x1: the kernel requires 64x2x1 (reqd_work_group_size)");
    options.kernel = "";
    CHECK(why_not("launch.hsaco", options).empty());
    options.workgroup = hsadrv::Dim3(4096);
    CHECK_THAT(why_not("launch.hsaco", options), Contains("the agent's limit is 1024x1024x1024"));
    options = {};
    options.dynamic_lds_bytes = 1 << 20;
    CHECK_THAT(why_not("launch.hsaco", options), Contains("more than the agent's 65536 bytes per work-group"));
}

TEST_CASE("LDS sized at launch counts for the occupancy", "[objdump]") {
    Options options;
    options.target = "gfx90a";
    options.kernel = "two_arrays";
    options.dynamic_lds_bytes = 40000;
    options.workgroup = hsadrv::Dim3(64);
    const Facts facts = facts_of(read_contents("launch.hsaco", kernels("launch.hsaco")), options);
    const KernelFacts& kernel = facts.files[0].entries[0].kernels[0];
    REQUIRE(kernel.occupancy);
    CHECK(kernel.occupancy->workgroups == 1);
    CHECK(kernel.occupancy->limit == hsadrv::shared::OccupancyLimit::lds);
}

TEST_CASE("agents' answers are listed with each code object", "[objdump]") {
    Facts facts = facts_of(read_contents("k.hsaco", kernels("launch.gfx90a.v5.O2.hsaco")));
    facts.agents = {{"gpu0 gfx90a", "GPU-1", {}}, {"gpu1 gfx900", "GPU-2", {}}, {"gpu2 gfx90a", "GPU-3", {}}};
    facts.files[0].entries[0].answers = {{0, ""}, {1, "another target"}, {2, ""}};
    const std::string text = as_text(facts, {}, {});
    CHECK_THAT(text, Contains("  loads on   gpu0 gfx90a, gpu2 gfx90a\n  not on     gpu1 gfx900: another target\n"));
    const Json json = as_json(facts)["files"][0]["code_objects"][0]["loadable"];
    CHECK(json[1]["why_not"] == "another target");
    CHECK(json[2]["uuid"] == "GPU-3");
}

TEST_CASE("control characters in names are escaped", "[objdump]") {
    CHECK(printable("a\033[31mb\tc\nd\x7f") == "a\\x1b[31mb\\x09c\nd\\x7f");
    CHECK(printable("größe") == "größe");
    Contents contents = read_contents("k\033[2J.hsaco", kernels("launch.gfx90a.v5.O2.hsaco"));
    contents.entries[0].code->kernels[0].name = "evil\033]0;title\a";
    const std::string text = as_text(facts_of(std::move(contents)), {}, {});
    CHECK(text.find('\033') == text.npos);
    CHECK(text.find('\a') == text.npos);
}

TEST_CASE("C++ names are demangled", "[objdump]") {
    CHECK(demangled("_Z3addPfi") == "add(float*, int)");
    CHECK(demangled("saxpy").empty());
    CHECK(demangled("_Znonsense").empty());
}

TEST_CASE("listings are extracted from the disassembler's output", "[objdump]") {
    const auto all = parse_listings(
        "\nk:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n0000000000001600 <first>:\n"
        "\ts_load_dword s2, s[4:5], 0x14   // 000000001608: C0020082\n\ts_nop 0                         // "
        "00000000160C: BF800000\n"
        "\ts_endpgm                        // 000000001610: BF810000\n\ts_nop 0                         // "
        "000000001614: BF800000\n\t\t...\n"
        "\n0000000000001700 <vector<int>::second(int)>:\n\ts_code_end  // 000000001700: "
        "BF9F0000\n\nDisassembly of section .other:\nignored\n");
    REQUIRE(all.size() == 2);
    CHECK(all[0].symbol == "first");
    REQUIRE(all[0].lines.size() == 3);
    CHECK(all[0].lines[0] == "s_load_dword s2, s[4:5], 0x14   // 000000001608: C0020082");
    CHECK(all[0].lines[2].starts_with("s_endpgm"));
    CHECK(all[1].symbol == "vector<int>::second(int)");
    CHECK(all[1].lines.empty());
    CHECK(parse_listings("").empty());
    CHECK(parse_listings("no symbols here\n<x>:\n12 <y>\n").empty());
}

}  // namespace hsadrv_tool::objdump
