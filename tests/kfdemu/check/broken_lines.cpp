// Findings in code objects whose line information is missing, broken or about other code: the function is named, and
// the program goes on.
#include <elf.h>

#include <fstream>
#include <iterator>
#include <random>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

using Bytes = std::vector<std::byte>;

Bytes code_object(const Gpu& gpu) {
    std::ifstream file{HSA_TEST_KERNELS "/../check/late.O0." + gpu.name + ".hsaco", std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    REQUIRE_FALSE(text.empty());
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    return {data, data + text.size()};
}

template <class T>
T& at(Bytes& bytes, std::uint64_t offset) {
    REQUIRE(offset + sizeof(T) <= bytes.size());
    return *reinterpret_cast<T*>(&bytes[offset]);
}

/// Calls change(section, its name) for each section whose name begins with .debug.
template <class Change>
void on_debug_sections(Bytes& bytes, Change&& change) {
    const auto header = at<Elf64_Ehdr>(bytes, 0);
    const auto section = [&](unsigned n) -> Elf64_Shdr& {
        return at<Elf64_Shdr>(bytes, header.e_shoff + n * sizeof(Elf64_Shdr));
    };
    const std::uint64_t names = section(header.e_shstrndx).sh_offset;
    unsigned found = 0;
    for (unsigned n = 0; n < header.e_shnum; ++n) {
        char* name = &at<char>(bytes, names + section(n).sh_name);
        if (std::string_view{name}.substr(0, 6) != ".debug") continue;
        ++found;
        change(section(n), name);
    }
    REQUIRE(found != 0);
}

/// Runs the kernel that waits too late, and returns the only finding.
std::string finding_in(const Machine& machine, const Bytes& bytes) {
    const test_support::Control control;
    control->forget_findings();
    REQUIRE(control->check(KFDEMU_CHECK_WAIT) == 0);
    const Executable code{machine.gpu(), bytes};
    const Memory in{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};
    run(machine, queue, code.kernel("late"), line(64), in.data(), out.data());
    REQUIRE(control->findings() == 1);
    return control.finding(0);
}

}  // namespace

TEST_CASE("without line information, a finding names the function", "[check][lines]") {
    const Machine machine;
    Bytes bytes = code_object(machine.gpu());
#ifdef HAS_LINES
    CHECK(has(finding_in(machine, bytes), "late.cpp:"));
#endif
    on_debug_sections(bytes, [](Elf64_Shdr&, char* name) { name[1] = 'x'; });
    const std::string text = finding_in(machine, bytes);
    INFO(text);
    CHECK_FALSE(has(text, "late.cpp:"));
    CHECK(has(text, "\n        in load_late(unsigned int const*)\n"));
}

TEST_CASE("sections of line information that are outside of the file are ignored", "[check][lines]") {
    const Machine machine;
    for (const std::uint64_t beyond : {std::uint64_t{1} << 20, std::uint64_t{1} << 40}) {
        Bytes bytes = code_object(machine.gpu());
        on_debug_sections(bytes, [&](Elf64_Shdr& section, char*) { section.sh_size = beyond; });
        CHECK(has(finding_in(machine, bytes), "load_late"));
        bytes = code_object(machine.gpu());
        on_debug_sections(bytes, [&](Elf64_Shdr& section, char*) { section.sh_offset = beyond; });
        CHECK(has(finding_in(machine, bytes), "load_late"));
    }
}

TEST_CASE("broken line information ends no program", "[check][lines]") {
    const Machine machine;
    for (unsigned seed = 0; seed < 60; ++seed) {
        INFO("seed " << seed);
        std::minstd_rand random{seed + 1};
        Bytes bytes = code_object(machine.gpu());
        on_debug_sections(bytes, [&](const Elf64_Shdr& section, char*) {
            // All of it, or a few bytes.
            const std::uint64_t changes = seed % 3 == 0 ? section.sh_size : 1 + random() % 8;
            for (std::uint64_t n = 0; n < changes && section.sh_size != 0; ++n)
                at<std::uint8_t>(bytes, section.sh_offset + random() % section.sh_size) =
                    static_cast<std::uint8_t>(random() >> 8);
        });
        CHECK(has(finding_in(machine, bytes), "is missing"));
    }
}

TEST_CASE("line information about other addresses is not shown", "[check][lines]") {
    const Machine machine;
    Bytes bytes = code_object(machine.gpu());
    on_debug_sections(bytes, [&](const Elf64_Shdr& section, const char* name) {
        if (std::string_view{name} != ".debug_addr") return;
        for (std::uint64_t n = 8; n + 8 <= section.sh_size; n += 8)
            ++at<std::uint8_t>(bytes, section.sh_offset + n + 4);  // of an address: 4 GiB more
    });
    const std::string text = finding_in(machine, bytes);
    INFO(text);
    CHECK_FALSE(has(text, "late.cpp:"));
    CHECK(has(text, "load_late"));
}
