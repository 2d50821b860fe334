// Lost, late and doubled interrupts: a thread that sleeps on a signal still sees the value when its
// wait is over.
#include <thread>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/queue.hpp"

using namespace hsa_test;

namespace {

using Clock = std::chrono::steady_clock;

/// How long a blocked wait for a barrier packet took that completes after 50 ms, with a time limit.
Duration sleep_until_done(const Machine& machine, Duration limit) {
    Queue queue{machine.gpu()};
    Signal gate, done;
    queue.submit(barrier_and({gate}, done));
    std::thread opener{[&] {
        std::this_thread::sleep_for(50ms);
        gate.store(0);
    }};
    const auto start = Clock::now();
    const bool completed = done.completed(limit);
    const auto took = Clock::now() - start;
    opener.join();
    CHECK(completed);
    return took;
}

}  // namespace

TEST_CASE("without a lost interrupt a sleeper wakes soon", "[control][interrupts]") {
    NEEDS_CONTROL(control);
    Machine machine;
    CHECK(sleep_until_done(machine, 20s) < 10s);
}

TEST_CASE("a sleeper whose interrupt is dropped wakes at its time limit, and sees the value", "[control][interrupts]") {
    NEEDS_CONTROL(control);
    Machine machine;
    const auto before = control.counters();
    REQUIRE(control->interrupts(KFDEMU_DROP, 1, KFDEMU_ALL, 0) == 0);
    CHECK(sleep_until_done(machine, 1s) >= 900ms);
    CHECK(control.counters().injected > before.injected);
    CHECK(control.counters().interrupts > before.interrupts);
    control->reset();
    CHECK(sleep_until_done(machine, 20s) < 10s);
}

TEST_CASE("a sleeper whose interrupt is late wakes on arrival", "[control][interrupts]") {
    NEEDS_CONTROL(control);
    Machine machine;
    REQUIRE(control->interrupts(KFDEMU_DELAY, 1, KFDEMU_ALL, 700'000) == 0);
    const Duration took = sleep_until_done(machine, 20s);
    CHECK(took >= 700ms);
    CHECK(took < 10s);
}

TEST_CASE("a doubled interrupt completes no work twice", "[control][interrupts]") {
    NEEDS_CONTROL(control);
    Machine machine;
    REQUIRE(control->interrupts(KFDEMU_DUPLICATE, 1, KFDEMU_ALL, 1000) == 0);
    Queue queue{machine.gpu()};
    Signal done{100};
    for (int i = 0; i < 100; ++i) queue.submit(barrier_and({}, done, true));
    CHECK(done.completed());
    std::this_thread::sleep_for(20ms);
    CHECK(done.load() == 0);
}
