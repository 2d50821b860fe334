// Mutation: removes one instruction at a time from compiled kernels and counts what is caught: s_waitcnt by `wait`,
// writes to LDS by `init`.
#include <algorithm>
#include <cstdio>

#include "checked.hpp"
#include "tools/kfdemu/gfx9/disassemble.hpp"

using namespace check_test;

namespace {

constexpr std::uint32_t kNop = 0xbf800000, kTrap = 0xbf920002;  // s_nop 0; s_trap 2, which ends the kernel with a fault
bool is_wait(std::uint32_t dword) { return dword >> 16 == 0xbf8c; }
/// A DS instruction, by its opcode.
bool is_lds_write(std::uint32_t dword) {
    const std::uint32_t op = dword >> 17 & 0xff;
    return dword >> 26 == 0x36 && ((op & 0xbf) == 0x0d || (op & 0xbf) == 0x0e || (op & 0xbf) == 0x0f || op == 0x1e ||
                                   op == 0x1f || op == 0x54 || op == 0x55 || op == 0xde || op == 0xdf);
}

/// What is removed, how long it is, and the check that is to notice.
struct Mutation {
    Check check;
    bool (*is_removed)(std::uint32_t dword);
    unsigned dwords;
};
constexpr Mutation kWaits{Check::wait, is_wait, 1}, kLdsWrites{Check::init, is_lds_write, 2};

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

/// Redundant: without the wait, only memory is in disorder, or a later wait covers it; nothing reads what the write
/// would write, in this run.
Tally mutate(Target target, const char* level, Run run, const Mutation& mutation) {
    Checked gpu{target, mutation.check};
    const CodeObject code = gpu.load_dispatch("lds", level);
    REQUIRE(run(gpu, code).state == kfdemu::Dispatch::State::Finished);
    INFO(gpu.text());
    REQUIRE(gpu.rules().empty());
    Tally tally;
    const std::span<std::uint32_t> text = code.text();
    for (std::size_t at = 0; at + mutation.dwords <= text.size(); ++at) {
        if (!mutation.is_removed(text[at])) continue;
        const std::vector<std::uint32_t> original(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                  text.begin() + static_cast<std::ptrdiff_t>(at + mutation.dwords));
        text[at] = kTrap;
        const bool executed = run(gpu, code).state == kfdemu::Dispatch::State::Failed;
        std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), mutation.dwords, kNop);
        gpu.forget();
        if (executed) {
            ++tally.removed;
            REQUIRE(run(gpu, code).state == kfdemu::Dispatch::State::Finished);
            ++(gpu.rules().empty() ? tally.redundant : tally.caught);
        }
        std::copy(original.begin(), original.end(), text.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return tally;
}

Tally mutate_all(const char* what, const Mutation& mutation) {
    Tally sum;
    for (const Target target : targets())
        for (const char* level : kLevels)
            for (const auto& [name, run] : kRuns) {
                INFO(name << " on " << kfdemu::gfx9::name(target) << " at -" << level);
                const Tally t = mutate(target, level, run, mutation);
                std::printf("mutation: %-14s %-7s %s: %2u %s, %2u caught, %2u redundant\n", name,
                            kfdemu::gfx9::name(target), level, t.removed, what, t.caught, t.redundant);
                sum.removed += t.removed, sum.caught += t.caught, sum.redundant += t.redundant;
            }
    std::printf("mutation: %u %s, %u caught, %u that nothing in these runs depends on\n", sum.removed, what, sum.caught,
                sum.redundant);
    return sum;
}

}  // namespace

TEST_CASE("one s_waitcnt at a time is removed from compiled kernels", "[check][wait][mutation]") {
    const Tally sum = mutate_all("waits", kWaits);
    REQUIRE(sum.caught * 3 >= sum.removed * 2);
}

TEST_CASE("one write to LDS at a time is removed from compiled kernels", "[check][init][mutation]") {
    const Tally sum = mutate_all("writes", kLdsWrites);
    REQUIRE(sum.caught * 3 >= sum.removed * 2);
}
