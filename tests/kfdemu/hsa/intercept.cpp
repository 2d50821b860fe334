// A tool between the program and its queues sees every packet and writes others (hsa_api_trace.h:
// hsa_amd_queue_intercept_create); the program is unaware of it.
#include <dlfcn.h>

#include <array>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

/// {queues, packets, kernels}
std::array<std::uint64_t, 3> counts() {
    void* tool = dlopen(HSA_TEST_TOOL, RTLD_NOW | RTLD_NOLOAD);
    if (!tool) throw std::runtime_error{"the tool is not loaded"};
    const auto ask = reinterpret_cast<void (*)(std::uint64_t*)>(dlsym(tool, "hsa_test_tool_counts"));
    std::array<std::uint64_t, 3> result{};
    ask(result.data());
    dlclose(tool);
    return result;
}

}  // namespace

TEST_CASE("child: with a tool", "[.child]") {
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    *total.as<std::uint32_t>() = 0;
    const auto before = counts();
    Queue queue{machine.gpu(), 64};
    REQUIRE(counts()[0] == before[0] + 1);
    const Kernel count = code.kernel("count");
    const Memory counting = arguments(machine, count, total.data());
    // Many wraps of the ring, but never more packets than it holds: ROCR 5.2 aborts when a tool's packets
    // do not fit.
    constexpr int rounds = 20, kernels = 15;
    for (int r = 0; r < rounds; ++r) {
        const Signal done{2 * kernels};
        for (int i = 0; i < kernels; ++i) {
            queue.submit(kernel_packet(count, line(10), counting, done));
            queue.submit(barrier_and({}, done));
        }
        REQUIRE(done.wait(HSA_SIGNAL_CONDITION_EQ, 0));
        REQUIRE(queue.drains());
    }
    CHECK(*total.as<std::uint32_t>() == 2 * rounds * kernels * 10);
    CHECK(counts()[1] == before[1] + rounds * (2 * kernels + 1));
    CHECK(counts()[2] == before[2] + rounds * kernels);
    // Errors of the underlying queue are reported.
    auto bad = kernel_packet(count, line(10), counting);
    bad.workgroup_size_x = 0;
    queue.submit(bad);
    CHECK(describe(queue.wait_for_error()) == describe(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS));
    queue.destroy();
}

TEST_CASE("a tool sees and doubles the packets of a program that does not know", "[device][intercept]") {
    NEEDS_GPUS(1);
    const ChildResult child = run_child("child: with a tool", {}, {{"HSA_TOOLS_LIB", HSA_TEST_TOOL}});
    INFO(child.output);
    CHECK(child.passed());
}
