// Mutation: removes one s_waitcnt or s_barrier at a time from compiled kernels and counts what `wait` and `race` catch.
#include <cstdio>

#include "checked.hpp"
#include "tools/kfdemu/gfx9/disassemble.hpp"

using namespace check_test;

namespace {

constexpr std::uint32_t kNop = 0xbf800000, kTrap = 0xbf920002;  // s_nop 0; s_trap 2, which ends the kernel with a fault
bool is_wait(std::uint32_t dword) { return dword >> 16 == 0xbf8c; }
bool is_barrier(std::uint32_t dword) { return dword == 0xbf8a0000; }

using Run = Outcome (*)(Checked&, const CodeObject&);

Outcome matmul(Checked& gpu, const CodeObject& code) {
    const std::uint32_t n = 32;
    const std::vector<float> m(n * n, 2.0f);
    return code.try_launch("matmul", {.grid = {n, n}, .group = {16, 16}}, gpu.machine.copy(m), gpu.machine.copy(m),
                           gpu.machine.allocate<float>(n * n), n);
}
Outcome reduce(Checked& gpu, const CodeObject& code) {
    const std::vector<std::uint32_t> in(768, 3);
    return code.try_launch("reduce", {.grid = {768}, .group = {256}, .lds_bytes = 1024}, gpu.machine.copy(in),
                           gpu.machine.allocate<std::uint32_t>(3), 0u);
}
Outcome histogram(Checked& gpu, const CodeObject& code) {
    const std::vector<std::uint8_t> in(2000, 3);
    return code.try_launch("histogram", {.grid = {512}, .group = {256}}, gpu.machine.copy(in), 2000u,
                           gpu.machine.allocate<std::uint32_t>(256));
}
Outcome lds_widths(Checked& gpu, const CodeObject& code) {
    const std::vector<std::uint8_t> in(256, 3);
    return code.try_launch("lds_widths", {.grid = {256}, .group = {256}}, gpu.machine.copy(in),
                           gpu.machine.allocate<std::uint64_t>(256 * 6));
}
Outcome lds_pairs(Checked& gpu, const CodeObject& code) {
    const std::vector<std::uint32_t> in(256, 3);
    return code.try_launch("lds_pairs", {.grid = {64}, .group = {64}}, gpu.machine.copy(in),
                           gpu.machine.allocate<std::uint32_t>(192));
}
Outcome between_lanes(Checked& gpu, const CodeObject& code) {
    const std::vector<std::uint32_t> in(64, 3);
    return code.try_launch("between_lanes", {.grid = {64}, .group = {64}}, gpu.machine.copy(in),
                           gpu.machine.allocate<std::uint32_t>(576));
}

constexpr std::pair<const char*, Run> kRuns[] = {
    {"matmul", matmul},         {"reduce", reduce},       {"histogram", histogram},
    {"lds_widths", lds_widths}, {"lds_pairs", lds_pairs}, {"between_lanes", between_lanes},
};

/// Of several waves, with barriers.
constexpr std::pair<const char*, Run> kSharing[] = {
    {"matmul", matmul}, {"reduce", reduce}, {"histogram", histogram}, {"lds_widths", lds_widths}};

/// Those of kernels/race.cpp, correct as they are.
constexpr const char* kMended[] = {
    "read_after_write", "write_after_read", "write_after_write", "reduce", "prefix", "tiles",
    "transpose",        "stencil",          "broadcast",         "narrow", "wide",   "counted",
    "zeroed",           "generic",          "flagged",           "locked"};

struct Tally {
    unsigned removed = 0, caught = 0, redundant = 0;

    void operator+=(const Tally& t) { removed += t.removed, caught += t.caught, redundant += t.redundant; }
};

/// Redundant: nothing that the check watches depends on it in this run.
template <class Launch>
Tally mutate(Checked& gpu, const CodeObject& code, bool (*removes)(std::uint32_t), Launch&& launch) {
    REQUIRE(launch().state == kfdemu::Dispatch::State::Finished);
    INFO(gpu.text());
    REQUIRE(gpu.rules().empty());
    Tally tally;
    for (std::uint32_t& dword : code.text()) {
        if (!removes(dword)) continue;
        const std::uint32_t original = dword;
        dword = kTrap;
        const bool executed = launch().state == kfdemu::Dispatch::State::Failed;
        dword = kNop;
        gpu.forget();
        if (executed) {
            ++tally.removed;
            REQUIRE(launch().state == kfdemu::Dispatch::State::Finished);
            ++(gpu.rules().empty() ? tally.redundant : tally.caught);
        }
        dword = original;
    }
    return tally;
}

Tally mutate(Check check, Target target, const char* level, Run run, bool (*removes)(std::uint32_t)) {
    Checked gpu{target, check};
    const CodeObject code = gpu.load_dispatch("lds", level);
    return mutate(gpu, code, removes, [&] { return run(gpu, code); });
}

Tally remove_barriers(Target target, const char* level, const std::string& kernel) {
    Checked gpu{target, Check::lds_race};
    const CodeObject code = gpu.load("race", level);
    std::vector<std::uint32_t> in(256);
    for (std::uint32_t n = 0; n < 256; ++n) in[n] = n * 7 + 1;
    return mutate(gpu, code, is_barrier, [&] {
        return code.try_launch(kernel + "_mended", {.grid = {256}, .group = {256}}, gpu.machine.copy(in),
                               gpu.machine.allocate<std::uint32_t>(256));
    });
}

void print(const char* what, const char* name, Target target, const char* level, const Tally& t) {
    std::printf("mutation: %-17s %-7s %s: %2u %s, %2u caught, %2u redundant\n", name, kfdemu::gfx9::name(target), level,
                t.removed, what, t.caught, t.redundant);
}

}  // namespace

TEST_CASE("one s_waitcnt at a time is removed from compiled kernels", "[check][wait][mutation]") {
    Tally sum;
    for (const Target target : targets())
        for (const char* level : kLevels)
            for (const auto& [name, run] : kRuns) {
                INFO(name << " on " << kfdemu::gfx9::name(target) << " at -" << level);
                const Tally t = mutate(Check::wait, target, level, run, is_wait);
                print("waits", name, target, level, t);
                sum += t;
            }
    std::printf("mutation: %u waits, %u caught, %u without a register that depends on them\n", sum.removed, sum.caught,
                sum.redundant);
    REQUIRE(sum.caught * 3 >= sum.removed * 2);
}

TEST_CASE("one s_barrier at a time is removed from compiled kernels", "[check][race][mutation]") {
    Tally sum;
    const auto add = [&](const char* name, Target target, const char* level, const Tally& t) {
        print("barriers", name, target, level, t);
        sum += t;
    };
    for (const Target target : targets()) {
        for (const char* level : kLevels)
            for (const auto& [name, run] : kSharing)
                add(name, target, level, mutate(Check::lds_race, target, level, run, is_barrier));
        for (const char* level : {"O0", "O1", "O2", "O3"})
            for (const char* kernel : kMended) {
                INFO(kernel << " on " << kfdemu::gfx9::name(target) << " at -" << level);
                add(kernel, target, level, remove_barriers(target, level, kernel));
            }
    }
    std::printf("mutation: %u barriers, %u caught, %u redundant\n", sum.removed, sum.caught, sum.redundant);
    // Redundant are the steps of a tree that one wave takes alone, and barriers after which a wave reads its own: 36
    // for two targets. Not caught are those after the initialisation of what waves then poll or lock (flagged, locked):
    // 14.
    REQUIRE(sum.caught * 5 >= sum.removed * 4);
}
