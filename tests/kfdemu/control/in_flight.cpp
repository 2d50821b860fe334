// Many packets in flight at once: those without the barrier bit are taken while earlier ones still run.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

using Clock = std::chrono::steady_clock;

/// Microseconds a packet of `count` kernels in flight at once, the least of three rounds.
double us_each(const Machine& machine, const Executable& code, std::uint32_t count) {
    Queue queue{machine.gpu(), 1 << 17};
    const Kernel nothing = code.kernel("nothing");
    const Memory no_arguments = arguments(machine, nothing);
    double least = 1e30;
    for (int round = 0; round < 3; ++round) {
        const Signal gate, done{static_cast<hsa_signal_value_t>(count)};
        queue.submit(barrier_and({gate}));
        const auto packet = kernel_packet(nothing, line(64), no_arguments, done);
        std::uint64_t last = 0;
        for (std::uint32_t i = 0; i < count; ++i) queue.publish(last = queue.reserve(), &packet);
        queue.ring(last);
        const auto start = Clock::now();
        gate.store(0);
        REQUIRE(done.wait(HSA_SIGNAL_CONDITION_EQ, 0, 120s));
        least = std::min(least, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / count);
    }
    return least;
}

}  // namespace

TEST_CASE("a packet among 100,000 in flight costs what it costs among 1,000", "[control][queues]") {
    NEEDS_CONTROL(control);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    us_each(machine, code, 1000);
    const double few = us_each(machine, code, 1000), many = us_each(machine, code, 100'000);
    std::printf("1,000 in flight: %.2f us each; 100,000: %.2f us each\n", few, many);
    CHECK(many < 5 * few);
}
