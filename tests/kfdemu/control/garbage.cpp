// The contents of unwritten memory in kernels: zeros, or with --strict values from a seed.
#include <cstdio>
#include <cstdlib>
#include <set>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

constexpr std::uint32_t kItems = 128;
// Larger than the blocks that the runtime cuts small allocations from, and keeps.
constexpr std::size_t kWhole = 4 << 20;

using Words = std::vector<std::uint32_t>;

Words run_kernel(const Machine& machine, const char* name, std::size_t words, std::uint32_t lds_bytes = 0) {
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "garbage"};
    const Memory out{machine.cpu().fine, words * 4, machine.agents()};
    Shape shape = line(kItems);
    shape.group_bytes = lds_bytes;
    run(machine, queue, code.kernel(name), shape, out.data());
    return {out.as<std::uint32_t>(), out.as<std::uint32_t>() + words};
}

Words fresh_vram(const Machine& machine) {
    const Memory fresh{machine.gpu().coarse, kWhole, {}};
    Words words(kWhole / 4);
    HSA_CHECK(hsa_memory_copy(words.data(), fresh.data(), kWhole));
    return words;
}

Words found(const Machine& machine, const std::string& where) {
    if (where == "registers") return run_kernel(machine, "registers", 3 * kItems);
    if (where == "LDS") return run_kernel(machine, "lds", kItems, 256);
    if (where == "scratch") return run_kernel(machine, "scratch", kItems);
    return fresh_vram(machine);
}

/// The values that a child found and printed; with `behaviours` and a seed.
std::string found_by_child(const std::string& where, const std::string& behaviours, int seed) {
    const char* device = std::getenv("KFDEMU");
    const std::string value =
        std::string{device ? device : "on"} + ",seed=" + std::to_string(seed) + ",strict=" + behaviours;
    const ChildResult child = run_child("child: garbage", where, {{"KFDEMU", value}});
    CAPTURE(where, value, child.output);
    REQUIRE(child.passed());
    const auto begin = child.output.find("different words");
    REQUIRE(begin != child.output.npos);
    return child.output.substr(begin, child.output.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("child: garbage", "[.child]") {
    const Words words = found(Machine{}, row());
    std::uint64_t hash = 0;
    for (const std::uint32_t word : words) hash = hash * 0x9e3779b97f4a7c15 + word;
    std::printf("different words: %zu, hash %016llx\n", std::set<std::uint32_t>(words.begin(), words.end()).size(),
                static_cast<unsigned long long>(hash));
}

TEST_CASE("registers, LDS, scratch and new VRAM hold values from a seed", "[control][garbage]") {
    NEEDS_CONTROL(control);
    for (const char* where : {"registers", "LDS", "scratch", "fresh VRAM"}) {
        CAPTURE(where);
        const std::string once = found_by_child(where, "seeded-garbage", 7);
        CHECK(once == found_by_child(where, "seeded-garbage", 7));
        CHECK(once != found_by_child(where, "seeded-garbage", 8));
        CHECK(std::stoul(once.substr(once.find(": ") + 2)) > 32);
    }
}

TEST_CASE("without that they are as in every run before", "[control][garbage]") {
    NEEDS_CONTROL(control);
    for (const char* where : {"registers", "LDS", "fresh VRAM"}) {
        CAPTURE(where);
        const std::string zeros = found_by_child(where, "no-seeded-garbage", 7);
        CHECK(zeros == "different words: 1, hash 0000000000000000");
    }
}

TEST_CASE("child: ids", "[.child]") {
    const Words words = run_kernel(Machine{}, "ids", 3 * kItems);
    for (std::uint32_t i = 0; i < kItems; ++i) {
        CHECK(words[3 * i] == i % 64);
        CHECK(words[3 * i + 1] == 0);
        CHECK(words[3 * i + 2] == 0);
    }
}

TEST_CASE("registers defined by the ABI are right among garbage, too", "[control][garbage]") {
    NEEDS_CONTROL(control);
    const char* device = std::getenv("KFDEMU");
    const ChildResult child =
        run_child("child: ids", "", {{"KFDEMU", std::string{device ? device : "on"} + ",strict=seeded-garbage"}});
    INFO(child.output);
    CHECK(child.passed());
}
