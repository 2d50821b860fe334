// How fast the executor multiplies and adds: lane-operations a second on one thread, full and half EXEC.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/kfdemu/isa/machine.hpp"

using namespace test_isa;

namespace {

constexpr unsigned kOperations = 32, kRounds = 20'000, kSamples = 21;

/// A loop of `kOperations` multiply-adds; s10 counts the rounds.
std::vector<u32> loop() {
    std::vector<u32> code;
    for (unsigned n = 0; n < kOperations; ++n) {
        const std::vector<u32> one = vop2("v_fmac_f32", n % 8, v(20 + n % 4), 30 + n % 4);
        code.insert(code.end(), one.begin(), one.end());
    }
    code.push_back(0x80000000u | 1u << 23 | 10u << 16 | 129u << 8 | 10u);  // s_sub_u32 s10, s10, 1
    code.push_back(0xbf000000u | 7u << 16 | 128u << 8 | 10u);              // s_cmp_lg_u32 s10, 0
    code.push_back(0xbf850000u | (0x10000u - kOperations - 3));            // s_cbranch_scc1
    return code;
}

/// Lane-operations a second: the median of the samples, every one's result verified.
double measure(Level level, u64 exec, bool& right) {
    using Clock = std::chrono::steady_clock;
    Machine m{Target::gfx90a, level};
    for (unsigned n = 0; n < 4; ++n) {
        m.vgpr(20 + n, bits(0.5f));
        m.vgpr(30 + n, bits(1.0f));
    }
    std::vector<double> rates;
    for (unsigned sample = 0; sample < kSamples + 3; ++sample) {
        for (unsigned n = 0; n < 8; ++n) m.vgpr(n, 0);
        m.exec(exec);
        m.sgpr(10) = kRounds;
        const auto start = Clock::now();
        right &= m.run(loop(), 100'000'000) == Stop::End;
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        right &= as_float(m.lane(0, 1)) == 0.5f * kRounds * (kOperations / 8);
        const double lanes = static_cast<double>(__builtin_popcountll(exec));
        if (sample >= 3) rates.push_back(lanes * kOperations * kRounds / seconds);
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

}  // namespace

int main() {
    bool right = true;
    for (const Level level : levels()) {
        const double full = measure(level, kAll, right);
        const double half = measure(level, 0xaaaaaaaaaaaaaaaa, right);
        std::printf(
            "%s: FP32 multiply-add %.2f G lane-ops/s on one thread (goal 1); instructions at half EXEC / at "
            "full %.2f (goal 0.8)\n",
            name(level), full / 1e9, 2 * half / full);
    }
    if (!right) std::printf("wrong results\n");
    return right ? 0 : 1;
}
