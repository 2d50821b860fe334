// Mutation: removes one s_waitcnt at a time from compiled kernels and counts what `wait` catches.
#include <cstdio>

#include "checked.hpp"
#include "tools/kfdemu/gfx9/disassemble.hpp"

using namespace check_test;

namespace {

constexpr std::uint32_t kNop = 0xbf800000, kTrap = 0xbf920002;  // s_nop 0; s_trap 2, which ends the kernel with a fault
bool is_wait(std::uint32_t dword) { return dword >> 16 == 0xbf8c; }

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

struct Tally {
    unsigned removed = 0, caught = 0, redundant = 0;
};

/// Whether removing the wait leaves only memory that other waves see in disorder, or waits for what a later wait
/// covers: no register depends on it in this run.
Tally mutate(Target target, const char* level, Run run) {
    Checked gpu{target, Check::wait};
    const CodeObject code = gpu.load_dispatch("lds", level);
    REQUIRE(run(gpu, code).state == kfdemu::Dispatch::State::Finished);
    INFO(gpu.text());
    REQUIRE(gpu.rules().empty());
    Tally tally;
    for (std::uint32_t& dword : code.text()) {
        if (!is_wait(dword)) continue;
        const std::uint32_t original = dword;
        dword = kTrap;
        const bool executed = run(gpu, code).state == kfdemu::Dispatch::State::Failed;
        dword = kNop;
        gpu.forget();
        if (executed) {
            ++tally.removed;
            REQUIRE(run(gpu, code).state == kfdemu::Dispatch::State::Finished);
            ++(gpu.rules().empty() ? tally.redundant : tally.caught);
        }
        dword = original;
    }
    return tally;
}

}  // namespace

TEST_CASE("one s_waitcnt at a time is removed from compiled kernels", "[check][wait][mutation]") {
    Tally sum;
    for (const Target target : targets())
        for (const char* level : kLevels)
            for (const auto& [name, run] : kRuns) {
                INFO(name << " on " << kfdemu::gfx9::name(target) << " at -" << level);
                const Tally t = mutate(target, level, run);
                std::printf("mutation: %-14s %-7s %s: %2u waits, %2u caught, %2u redundant\n", name,
                            kfdemu::gfx9::name(target), level, t.removed, t.caught, t.redundant);
                sum.removed += t.removed, sum.caught += t.caught, sum.redundant += t.redundant;
            }
    std::printf("mutation: %u waits, %u caught, %u without a register that depends on them\n", sum.removed, sum.caught,
                sum.redundant);
    REQUIRE(sum.caught * 3 >= sum.removed * 2);
}
