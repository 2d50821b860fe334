// What kernels add up to, number by number.
#include "tests/kfdemu/count/counting.hpp"

using namespace count_test;

namespace {

/// Runs a transpose of 32 by 32 in one work-group.
ListedKernel transposed(Counting& gpu, const char* kernel) {
    std::vector<std::uint32_t> in(1024);
    for (std::uint32_t n = 0; n < 1024; ++n) in[n] = n;
    auto* out = gpu.machine.allocate<std::uint32_t>(1024);
    gpu.code.launch(kernel, {.grid = {32, 32}, .group = {32, 32}}, gpu.machine.copy(in), out);
    REQUIRE(out[1] == 32);
    return gpu.only();
}

}  // namespace

TEST_CASE("a copy of consecutive dwords", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        gpu.code.launch("copy", {.grid = {1024}, .group = {256}, .threads = 2},
                        gpu.machine.allocate<std::uint32_t>(1024), gpu.machine.allocate<std::uint32_t>(1024));
        const ListedKernel kernel = gpu.only();
        CHECK(kernel.dispatches == 1);
        CHECK(kernel.groups == 4);
        CHECK(kernel.waves == gpu.waves(1024));
        CHECK(kernel.lanes == gpu.machine.lanes());
        CHECK(kernel.total.memory == gpu.traffic(2 * kernel.waves, 2 * 4096, 2 * 4096));
        CHECK(kernel.total.scratch == Traffic{});
        CHECK(kernel.total.lds == LdsTraffic{});
        CHECK(kernel.total.partial == 0);
        CHECK(kernel.total.lanes == kernel.total.executions * kernel.lanes);
        CHECK(coalescing(kernel.total.memory) == 1.0);
        CHECK(mean_lanes(kernel.vector) == 1.0 * kernel.lanes);
        for (const ListedInstruction& each : kernel.instructions) CHECK(each.sums.executions == kernel.waves);
    });
}

TEST_CASE("a load of one dword in 64 bytes", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        gpu.code.launch("strided", {.grid = {1024}, .group = {256}}, gpu.machine.allocate<std::uint32_t>(16 * 1024),
                        gpu.machine.allocate<std::uint32_t>(1024));
        const ListedKernel kernel = gpu.only();
        CHECK(kernel.total.memory == gpu.traffic(2 * kernel.waves, 2 * 4096, 1024 * 64 + 4096));
        bool found = false;
        for (const ListedInstruction& each : kernel.instructions)
            if (each.sums.memory == gpu.traffic(kernel.waves, 4096, 1024 * 64))
                found = coalescing(each.sums.memory) == 1.0 / 16;
        CHECK(found);
    });
}

TEST_CASE("a store by some lanes", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        gpu.code.launch("some", {.grid = {256}, .group = {256}}, gpu.machine.allocate<std::uint32_t>(1024));
        const ListedKernel kernel = gpu.only();
        CHECK(kernel.waves == gpu.waves(256));
        CHECK(kernel.total.memory.accesses == 4);
        CHECK(kernel.total.memory.bytes == 4 * 16 * 4);
        CHECK(kernel.total.memory.transactions == 4);
        for (const ListedInstruction& each : kernel.instructions) {
            if (each.sums.memory.accesses == 0) continue;
            CHECK(each.sums.lanes == 4 * 16);
            CHECK(each.sums.partial == each.sums.executions);
        }
    });
}

TEST_CASE("branches of a loop", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        auto* out = gpu.machine.allocate<std::uint32_t>(1024);
        gpu.code.launch("turns", {.grid = {128}, .group = {64}}, out);
        REQUIRE(out[0] == 10);
        const ListedKernel kernel = gpu.only();
        CHECK(executed(kernel, Kind::Branch) == kernel.waves * 10);
        CHECK(kernel.total.taken == kernel.waves * 9);
    });
}

TEST_CASE("scratch is counted separately from memory", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        gpu.code.launch("spilled", {.grid = {128}, .group = {64}}, gpu.machine.allocate<std::uint32_t>(1024),
                        gpu.machine.allocate<std::uint32_t>(1024));
        const ListedKernel kernel = gpu.only();
        CHECK(kernel.total.scratch == gpu.traffic(2 * kernel.waves, 4 * 256, 4 * 256));
        CHECK(kernel.total.memory == gpu.traffic(2 * kernel.waves, 4 * 256, 4 * 256));
    });
}

TEST_CASE("a load over the end of a buffer", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        gpu.code.launch("over_the_end", {.grid = {64}, .group = {64}}, gpu.machine.allocate<std::uint32_t>(64 * 4),
                        gpu.machine.allocate<std::uint32_t>(64 * 4));
        CHECK(sums_of(gpu.only(), "buffer_load_dwordx4", "buffer_load_b128").memory ==
              gpu.traffic(gpu.waves(64), 63 * 16 + 8, 1024));
    });
}

TEST_CASE("bank conflicts of a transpose", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        const ListedKernel kernel = transposed(gpu, "transpose_tight");
        CHECK(kernel.waves == gpu.waves(1024));
        CHECK(kernel.total.lds == LdsTraffic{2 * kernel.waves, 2 * 4096, 16 * 62});
        CHECK(kernel.total.memory == gpu.traffic(2 * kernel.waves, 2 * 4096, 2 * 4096));
        CHECK(executed(kernel, Kind::Lds) == 2 * kernel.waves);
        CHECK(executed(kernel, Kind::Barrier) == kernel.waves);
    });
}

TEST_CASE("and none when its rows are padded", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        CHECK(transposed(gpu, "transpose_padded").total.lds == LdsTraffic{2 * gpu.waves(1024), 2 * 4096, 0});
    });
}

TEST_CASE("dispatches of a kernel add up, kernels do not", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        auto* memory = gpu.machine.allocate<std::uint32_t>(1024);
        for (unsigned n = 0; n < 3; ++n) gpu.code.launch("some", {.grid = {256}, .group = {64}, .quantum = 5}, memory);
        gpu.code.launch("copy", {.grid = {64}, .group = {64}}, memory, memory);
        const std::vector<KernelTotal> totals = gpu.counts.totals();
        REQUIRE(totals.size() == 2);
        CHECK(totals[0].dispatches == 3);
        CHECK(totals[0].groups == 12);
        CHECK(totals[0].waves == 3 * gpu.waves(256));
        CHECK(totals[1].dispatches == 1);
        CHECK(totals[1].waves == gpu.waves(64));
    });
}

TEST_CASE("a kernel that faults is counted until then", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        const std::uint32_t* nowhere = nullptr;
        const Outcome outcome = gpu.code.try_launch("copy", {.grid = {64}, .group = {64}}, nowhere,
                                                    gpu.machine.allocate<std::uint32_t>(1024));
        REQUIRE(outcome.state == kfdemu::Dispatch::State::Failed);
        const unsigned bytes = 4 * gpu.machine.lanes();
        CHECK(gpu.only().total.memory == gpu.traffic(1, bytes, bytes));
    });
}

TEST_CASE("checks see what is counted, and it counts the same", "[kfdemu][count]") {
    on_each_target("accesses", [](Counting& gpu) {
        kfdemu::check::Report report;
        gpu.machine.session.checks.set(kfdemu::Check::lds_race);
        gpu.machine.session.report = &report;
        const ListedKernel kernel = transposed(gpu, "transpose_tight");
        CHECK(report.coverage.waves == gpu.waves(1024));
        CHECK(report.coverage.instructions == kernel.total.executions);
        CHECK(kernel.total.lds == LdsTraffic{2 * kernel.waves, 2 * 4096, 16 * 62});
    });
}
