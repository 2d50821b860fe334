// Signals: values that threads and devices change and wait for.
#include "hsadrv/signal.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "hsadrv/signal_pool.hpp"
#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {
auto elapsed_since(Deadline::Clock::time_point start) { return Deadline::Clock::now() - start; }
}  // namespace

TEST_CASE("a condition holds for the values that it names", "[signal]") {
    struct Row {
        Condition condition;
        bool below, same, above;  ///< for -1, 0 and 1 compared with 0
    };
    const Row rows[] = {{Condition::equal, false, true, false},
                        {Condition::not_equal, true, false, true},
                        {Condition::less, true, false, false},
                        {Condition::greater_equal, false, true, true}};
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.condition));
        CHECK(holds(row.condition, -1, 0) == row.below);
        CHECK(holds(row.condition, 0, 0) == row.same);
        CHECK(holds(row.condition, 1, 0) == row.above);
    }
    static_assert(holds(Condition::less, INT64_MIN, INT64_MAX));
}

TEST_CASE("a signal's operations have the effect of their names", "[signal]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal owner = Signal::create(5);
    const SignalRef signal = owner;
    CHECK(signal.load() == 5);
    signal.store(-3);
    CHECK(signal.load_relaxed() == -3);
    signal.add(10);
    CHECK(signal.load() == 7);
    signal.subtract(2);
    CHECK(signal.load() == 5);
    CHECK(signal.exchange(9) == 5);
    CHECK(signal.compare_exchange(9, 1) == 9);
    CHECK(signal.load() == 1);
    CHECK(signal.compare_exchange(9, 2) == 1);
    CHECK(signal.load() == 1);
}

TEST_CASE("a wait returns the value at once when its condition holds", "[signal]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(4);
    CHECK(signal.wait(Condition::equal, 4) == 4);
    CHECK(signal.wait(Condition::not_equal, 3) == 4);
    CHECK(signal.wait(Condition::less, 5) == 4);
    CHECK(signal.wait(Condition::greater_equal, 4) == 4);
}

TEST_CASE("a wait ends at its deadline, neither before nor long after", "[signal][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(1);
    CHECK_FALSE(signal.try_wait(Condition::equal, 0, 0ms));
    for (const auto timeout : {1ms, 30ms, 150ms}) {
        const auto start = Deadline::Clock::now();
        CHECK_FALSE(signal.try_wait(Condition::equal, 0, timeout));
        CHECK(elapsed_since(start) >= timeout);
        CHECK(elapsed_since(start) < timeout + 5s);
    }
    CHECK_THROWS_AS(signal.wait(Condition::equal, 0, 10ms), Timeout);
    CHECK_THROWS_WITH(signal.wait(Condition::equal, 0, 10ms),
                      Contains("value == 0") && Contains("10 ms") && Contains("the value is 1"));
}

TEST_CASE("a blocked wait is woken by a store from another thread", "[signal]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(1);
    std::thread other([&] {
        std::this_thread::sleep_for(50ms);
        signal.store(0);
    });
    CHECK(signal.wait(Condition::less, 1, patience) == 0);
    other.join();
}

TEST_CASE("several waiters on one signal all wake", "[signal]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(1);
    std::atomic<int> woken{0};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 8; ++i)
        waiters.emplace_back([&] { woken += signal.try_wait(Condition::equal, 0, patience).has_value(); });
    std::this_thread::sleep_for(20ms);
    signal.ref().subtract(1);
    for (std::thread& waiter : waiters) waiter.join();
    CHECK(woken == 8);
}

TEST_CASE("an owner can move, release and adopt", "[signal]") {
    NEEDS_DEVICE();
    const Device device;
    Signal a = Signal::create(2);
    Signal b = std::move(a);
    CHECK_FALSE(a);  // NOLINT: moved-from is empty
    CHECK(b.load() == 2);
    const hsa_signal_t native = b.release();
    CHECK_FALSE(b);
    const Signal adopted = Signal::from_native(native);
    CHECK(adopted.load() == 2);
}

TEST_CASE("a pool reuses signals, with the requested value", "[signal][pool]") {
    NEEDS_DEVICE();
    const Device device;
    SignalPool pool;
    const hsa_signal_t first = pool.acquire(1)->native();
    CHECK(pool.counts().live == 0);
    CHECK(pool.counts().idle == 1);
    const auto again = pool.acquire(7);
    CHECK(again->native().handle == first.handle);
    CHECK(again->ref().load() == 7);
    const auto other = pool.acquire(1);
    CHECK(other->native().handle != first.handle);
    CHECK(pool.counts().live == 2);
    CHECK(pool.counts().peak == 2);
}

TEST_CASE("a pooled signal may outlive its pool", "[signal][pool]") {
    NEEDS_DEVICE();
    const Device device;
    std::shared_ptr<PooledSignal> signal;
    {
        SignalPool pool;
        signal = pool.acquire(3);
        pool.acquire(4);
    }
    CHECK(signal->ref().load() == 3);
}

TEST_CASE("a pool is shared by threads", "[signal][pool][stress]") {
    NEEDS_DEVICE();
    const Device device;
    SignalPool pool;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 500; ++i) {
                const auto a = pool.acquire(t * 1000 + i), b = pool.acquire(-1);
                wrong += a->ref().load() != t * 1000 + i || b->ref().load() != -1;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(pool.counts().live == 0);
    CHECK(pool.counts().peak <= 8);
    CHECK(pool.counts().idle <= 8);
}

TEST_CASE("a pool's budget: refused, timed out with the numbers, and granted when a signal returns", "[signal][pool]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK_THROWS_AS(SignalPool(0), InvalidArgument);
    SignalPool pool(3);
    std::vector<std::shared_ptr<PooledSignal>> held;
    for (int i = 0; i < 3; ++i) held.push_back(pool.acquire(i));
    CHECK(pool.try_acquire(1) == nullptr);
    CHECK_THROWS_AS(pool.acquire(1, 0ms), Timeout);
    const auto start = Deadline::Clock::now();
    CHECK_THROWS_WITH(pool.acquire(1, 20ms), Contains("all 3 signals") && Contains("20 ms") && Contains("1 callers"));
    CHECK(elapsed_since(start) >= 20ms);
    CHECK(pool.counts().live == 3);
    CHECK(pool.counts().peak == 3);
    CHECK(pool.counts().budget == 3);
    CHECK(pool.counts().waits == 2);

    std::thread other([&] {
        std::this_thread::sleep_for(30ms);
        held.pop_back();
    });
    const auto granted = pool.acquire(9, patience);
    other.join();
    CHECK(granted->ref().load() == 9);
    CHECK(pool.counts().live == 3);
    held.clear();
    CHECK(pool.try_acquire(5)->ref().load() == 5);
    CHECK(pool.counts().idle == 2);
}

TEST_CASE("a small budget makes many threads wait, and each gets its signal", "[signal][pool][stress]") {
    NEEDS_DEVICE();
    const Device device;
    SignalPool pool(2);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 200; ++i) try {
                    wrong += pool.acquire(t, patience)->ref().load() != t;
                } catch (const std::exception&) {
                    ++wrong;
                }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(pool.counts().peak <= 2);
    CHECK(pool.counts().live == 0);
}
