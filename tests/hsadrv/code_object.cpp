#include "hsadrv/code_object.hpp"

#include <elf.h>

#include <cstddef>
#include <random>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/hidden_arguments.hpp"
#include "hsadrv/launch_plan.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizer.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

const LaunchLimits wide_limits{1024, Dim3(1024, 1024, 1024), 0xffffffff, Dim3(0xffffffff, 0xffffffff, 0xffffffff),
                               65536};

/// Every operation on a code object that needs no device. True if it was accepted.
bool survives(std::span<const std::byte> bytes) {
    try {
        const CodeObject code = read_code_object(bytes);
        for (const KernelMetadata& kernel : code.kernels) {
            if (!cannot_launch(kernel)) LaunchPlan(kernel, wide_limits);
        }
        return true;
    } catch (const InvalidCodeObject&) {
        return false;
    }
}

std::string variant(const std::string& target, unsigned version, const char* level) {
    return "launch." + target + ".v" + std::to_string(version) + "." + level + ".hsaco";
}

const ArgumentMetadata& argument_of(const KernelMetadata& kernel, ValueKind kind) {
    for (const ArgumentMetadata& a : kernel.arguments) {
        if (a.kind == kind) return a;
    }
    throw std::out_of_range(std::string(to_string(kind)));
}

}  // namespace

TEST_CASE("every version and optimisation level describes the same explicit arguments", "[code_object]") {
    const std::string target = GENERATE("gfx90a", "gfx900");
    const unsigned version = GENERATE(4u, 5u, 6u);
    const char* level = GENERATE("O0", "O2");
    CAPTURE(target, version, level);
    const CodeObject code = read_code_object(test_code_object(variant(target, version, level)));
    CHECK(code.version == version);
    CHECK(code.target == TargetId::parse(target));
    REQUIRE(code.kernels.size() == 10);

    const KernelMetadata* saxpy = code.find("saxpy");
    REQUIRE(saxpy);
    CHECK(saxpy->symbol == "saxpy.kd");
    REQUIRE(saxpy->arguments.size() >= 4);
    CHECK(saxpy->arguments[0].kind == ValueKind::global_buffer);
    CHECK(saxpy->arguments[0].type_name == "float*");
    CHECK(saxpy->arguments[0].address_space == AddressSpace::global);
    CHECK(saxpy->arguments[2].kind == ValueKind::by_value);
    CHECK(saxpy->arguments[2].offset_bytes == 16);
    CHECK(saxpy->arguments[2].size_bytes == 4);
    CHECK(saxpy->arguments[3].type_name == "uint");
    CHECK(saxpy->wavefront_size == 64);
    CHECK(saxpy->vgpr_count > 0);
    CHECK(saxpy->max_flat_workgroup_size == 256);

    const KernelMetadata* reverse = code.find("reverse");
    REQUIRE(reverse);
    CHECK(reverse->group_segment_fixed_bytes == 12);
    CHECK(argument_of(*reverse, ValueKind::dynamic_shared_pointer).pointee_align_bytes == 4);
    CHECK(argument_of(*reverse, ValueKind::dynamic_shared_pointer).address_space == AddressSpace::local);

    const KernelMetadata* exactly = code.find("exactly");
    REQUIRE(exactly);
    CHECK(exactly->required_workgroup_size == std::array<std::uint32_t, 3>{64, 2, 1});
    CHECK(code.find("at_most")->max_flat_workgroup_size == 128);
    CHECK(code.find("nothing") == nullptr);
    CHECK_THAT(code.kernel_names(), Contains("'saxpy', 'mixed'"));
}

TEST_CASE("kernels that were not analysed list every hidden buffer, needed or not", "[code_object]") {
    const CodeObject code = read_code_object(test_code_object(variant("gfx90a", 5, "O0")));
    const KernelMetadata* kernel = code.find("no_arguments");
    REQUIRE(kernel);
    CHECK(argument_of(*kernel, ValueKind::hidden_hostcall_buffer).size_bytes == 8);
    CHECK(ServiceNeeds::of(*kernel).hostcall);
    CHECK_FALSE(cannot_launch(*kernel));
}

TEST_CASE("kernels with unsupported requirements are refused by name", "[code_object]") {
    struct Row {
        ValueKind kind;
        const char* reason;
    };
    const Row row = GENERATE(values<Row>({
        {ValueKind::hidden_default_queue, "enqueues kernels"},
        {ValueKind::hidden_completion_action, "enqueues kernels"},
        {ValueKind::unknown, "'hidden_of_tomorrow'"},
    }));
    KernelMetadata kernel;
    kernel.name = "k";
    ArgumentMetadata needed;
    needed.kind = row.kind;
    needed.kind_text = "hidden_of_tomorrow";
    kernel.arguments.push_back(needed);
    const auto why = cannot_launch(kernel);
    REQUIRE(why);
    CHECK_THAT(*why, Contains("kernel 'k'") && Contains(row.reason));
}

TEST_CASE("a kernel that runs in clusters is refused", "[code_object]") {
    KernelMetadata kernel;
    kernel.name = "k";
    kernel.cluster_workgroups = {2, 1, 1};
    CHECK_THAT(cannot_launch(kernel).value_or(""), Contains("clusters of work-groups"));
}

TEST_CASE("metadata and descriptor that disagree are refused with both numbers", "[code_object]") {
    Bytes file = test_code_object(variant("gfx90a", 5, "O2"));
    // The static LDS of `reverse` is 12 bytes: find its descriptor by the three sizes that it begins with.
    const CodeObject code = read_code_object(file);
    const KernelMetadata* reverse = code.find("reverse");
    const std::uint32_t sizes[] = {12, reverse->private_segment_fixed_bytes, reverse->kernarg_size_bytes};
    std::size_t at = 0;
    for (at = 0; at + 64 <= file.size(); at += 64) {
        if (std::memcmp(file.data() + at, sizes, sizeof sizes) == 0) break;
    }
    REQUIRE(at + 64 <= file.size());
    const auto why = [&](std::size_t field, std::uint32_t value) {
        Bytes bad = file;
        patch<std::uint32_t>(bad, at + field, value);
        return message_of<InvalidCodeObject>([&] { read_code_object(bad); });
    };
    CHECK_THAT(why(0, 16), Contains("'reverse'") && Contains("group segment size is 12 in the metadata and 16"));
    CHECK_THAT(why(4, 4096), Contains("'reverse'") && Contains("private segment size is") && Contains("4096"));
    CHECK_THAT(why(8, 4096), Contains("'reverse'") && Contains("kernarg size is") && Contains("4096"));
    CHECK(why(8, 0).empty());  // not given by the compiler
}

TEST_CASE("a kernel in the metadata without a descriptor is refused", "[code_object]") {
    Bytes file = test_code_object(variant("gfx90a", 5, "O2"));
    // The symbol's name in the string table of the symbol table: its last occurrence.
    const std::string name = "saxpy.kd";
    const auto* text = reinterpret_cast<const char*>(file.data());
    const std::size_t at = std::string_view(text, file.size()).rfind(name);
    REQUIRE(at != std::string_view::npos);
    patch(std::span(file), at, 'x');
    CHECK_THAT(message_of<InvalidCodeObject>([&] { read_code_object(file); }),
               Contains("kernel 'saxpy' has no symbol 'saxpy.kd'"));
}

TEST_CASE("metadata for another target than the ELF flags is refused", "[code_object]") {
    Bytes file = test_code_object(variant("gfx90a", 5, "O2"));
    patch<std::uint32_t>(file, offsetof(Elf64_Ehdr, e_flags), 0x12c);
    CHECK_THAT(message_of<InvalidCodeObject>([&] { read_code_object(file); }),
               Contains("gfx90a") && Contains("gfx900"));
}

TEST_CASE("a code object truncated at every byte is refused", "[code_object]") {
    const Bytes file =
        test_code_object(GENERATE(as<std::string>{}, "launch.gfx90a.v5.O2.hsaco", "launch.gfx900.v4.O2.hsaco"));
    GuardedBytes guarded(file.size());
    for (std::size_t size = 0; size < file.size(); ++size) {
        INFO("size " << size);
        REQUIRE_FALSE(survives(guarded.put(std::span(file).first(size))));
    }
    CHECK(survives(guarded.put(file)));
}

TEST_CASE("a code object with any byte changed is accepted or refused, never a crash", "[code_object]") {
    Bytes file = test_code_object("launch.gfx90a.v5.O2.hsaco");
    GuardedBytes guarded(file.size());
    // Most bytes are code or padding, and then all of the metadata is read: 50,000 times, which with sanitizers takes
    // minutes. Otherwise every fifth byte is changed, in one of three ways.
    const bool all = has_time();
    const std::vector<unsigned> flips{0x01, 0x80, 0xff};
    std::size_t accepted = 0, refused = 0;
    for (std::size_t at = 0; at < file.size(); at += all ? 1 : 5) {
        const std::byte before = file[at];
        for (const unsigned flip : all ? flips : std::vector{flips[at % flips.size()]}) {
            file[at] = before ^ static_cast<std::byte>(flip);
            ++(survives(guarded.put(file)) ? accepted : refused);
        }
        file[at] = before;
    }
    CHECK(accepted > 0);  // instructions, names, padding
    CHECK(refused > (accepted + refused) / 30);
}

TEST_CASE("a code object with many random changes in its tables never crashes", "[code_object]") {
    const Bytes good = test_code_object("launch.gfx90a.v5.O2.hsaco");
    const auto header = peek<Elf64_Ehdr>(good, 0);
    GuardedBytes guarded(good.size());
    std::mt19937 random(7);
    const std::uint64_t interesting[] = {0,     1,          0x7fffffff,  0xffffffff,     0x100000000,
                                         ~0ull, ~0ull >> 1, good.size(), good.size() - 1};
    for (int round = 0; round < 5000; ++round) {
        Bytes bad = good;
        for (int change = 0; change < 2; ++change) {
            const bool sections = random() % 2;
            const std::size_t table = sections ? header.e_shoff : header.e_phoff;
            const std::size_t bytes =
                sections ? header.e_shnum * sizeof(Elf64_Shdr) : header.e_phnum * sizeof(Elf64_Phdr);
            const std::size_t at = table + random() % (bytes / 8) * 8;
            patch<std::uint64_t>(bad, at, interesting[random() % std::size(interesting)]);
        }
        survives(guarded.put(bad));
    }
    SUCCEED();
}
