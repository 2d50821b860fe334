// Waits: any and all, many waiters, frequent EINTR, no interrupts; spin, then sleep.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// CPU time of this process.
std::chrono::nanoseconds cpu_time() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::vector<SignalTerm> complete(const std::vector<Signal>& signals) {
    std::vector<SignalTerm> terms;
    for (const Signal& signal : signals) terms.push_back({signal});
    return terms;
}

std::vector<Signal> signals_at(std::int64_t value, int count) {
    std::vector<Signal> signals;
    for (int i = 0; i < count; ++i) signals.push_back(Signal::create(value));
    return signals;
}

}  // namespace

TEST_CASE("wait_any returns the index of the signal that changed", "[signal][wait]") {
    NEEDS_DEVICE();
    const Device device;
    for (const int count : {1, 2, 10, 40}) {
        CAPTURE(count);
        const auto signals = signals_at(1, count);
        for (const int which : {0, count / 2, count - 1}) {
            std::thread other([&] {
                std::this_thread::sleep_for(5ms);
                signals[static_cast<std::size_t>(which)].store(0);
            });
            CHECK(wait_any(complete(signals), patience) == static_cast<std::size_t>(which));
            other.join();
            signals[static_cast<std::size_t>(which)].store(1);
        }
    }
}

TEST_CASE("wait_any takes each condition, and a signal named twice", "[signal][wait]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal a = Signal::create(5), b = Signal::create(5);
    struct Row {
        std::vector<SignalTerm> terms;
        std::int64_t value;  // stored to a
        std::size_t index;
    };
    const Row rows[] = {
        {{{b}, {a, Condition::equal, 9}}, 9, 1},
        {{{b}, {a, Condition::not_equal, 5}}, 6, 1},
        {{{a, Condition::less, 5}, {b}}, 4, 0},
        {{{b}, {a, Condition::greater_equal, 6}}, 6, 1},
        {{{a, Condition::less, 2}, {a, Condition::less, 4}}, 3, 1},
        {{{a, Condition::greater_equal, 9}, {a, Condition::greater_equal, 7}}, 7, 1},
        {{{a, Condition::equal, 1}, {a, Condition::greater_equal, 100}, {a, Condition::equal, 2}}, 2, 2},
    };
    for (const Row& row : rows) {
        CAPTURE(row.value, row.index);
        a.store(5);
        std::thread other([&] {
            std::this_thread::sleep_for(3ms);
            a.store(row.value);
        });
        CHECK(wait_any(row.terms, patience) == row.index);
        other.join();
    }
}

TEST_CASE("wait_any and wait_all end at their deadline with the values", "[signal][wait][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    const auto signals = signals_at(3, 4);
    const auto terms = complete(signals);
    for (const auto timeout : {0ms, 1ms, 40ms}) {
        const auto start = Deadline::Clock::now();
        CHECK_FALSE(try_wait_any(terms, timeout));
        CHECK_FALSE(try_wait_all(terms, timeout));
        CHECK(Deadline::Clock::now() - start >= timeout);
        CHECK(Deadline::Clock::now() - start < timeout + 5s);
    }
    CHECK_THROWS_AS(wait_any(terms, 5ms), Timeout);
    CHECK_THROWS_WITH(wait_any(terms, 5ms), Contains("4 signals") && Contains("value < 1 and has 3"));
    signals[1].store(0);
    CHECK_THROWS_WITH(wait_all(terms, 5ms), Contains("signal 0") && !Contains("signal 1") && Contains("signal 3"));
    const auto many = signals_at(2, 50);
    CHECK_THROWS_WITH(wait_all(complete(many), 5ms), Contains(" more"));
}

TEST_CASE("on an empty list wait_any is refused and wait_all succeeds", "[signal][wait]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK_THROWS_AS(wait_any({}, patience), InvalidArgument);
    CHECK_FALSE(try_wait_any({}, patience));
    CHECK(try_wait_all({}, 0ms));
    CHECK_NOTHROW(wait_all({}, 0ms));
}

TEST_CASE("wait_all returns when the last condition holds, in any order", "[signal][wait]") {
    NEEDS_DEVICE();
    const Device device;
    const auto signals = signals_at(1, 12);
    std::atomic<int> done{0};
    std::thread other([&] {
        for (std::size_t i = signals.size(); i-- > 0;) {
            std::this_thread::sleep_for(1ms);
            ++done;
            signals[i].store(0);
        }
    });
    wait_all(complete(signals), patience);
    CHECK(done == 12);
    other.join();
}

TEST_CASE("a packet's completion ends a wait_any", "[signal][wait]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu);
    const auto signals = signals_at(1, 3);
    for (int round = 0; round < 50; ++round) {
        const auto which = static_cast<std::size_t>(round % 3);
        queue.ref().submit(barrier_and({}, signals[which].native()));
        CHECK(wait_any(complete(signals), patience) == which);
        signals[which].store(1);
    }
}

TEST_CASE("64 waiters on one signal all wake, and sleep until then", "[signal][wait][stress]") {
    NEEDS_DEVICE();
    const Device device;
    struct Row {
        const char* what;
        bool one_condition;
    };
    for (const Row& row : {Row{"all for the same value", true}, Row{"each for its own value", false}}) {
        CAPTURE(row.what);
        const Signal signal = Signal::create(1000);
        std::atomic<int> woken{0};
        std::vector<std::thread> waiters;
        for (int i = 0; i < 64; ++i)
            waiters.emplace_back([&, than = row.one_condition ? 1 : 64 - i] {
                woken += signal.try_wait(Condition::less, than, patience).has_value();
            });
        // Spinning threads would use all cores all the time: half a second each. On a busy
        // machine it takes a while until all of them sleep.
        auto least = std::chrono::nanoseconds::max();
        CHECK(eventually([&] {
            const auto before = cpu_time();
            std::this_thread::sleep_for(500ms);
            least = std::min(least, cpu_time() - before);
            return least < 400ms;
        }));
        CAPTURE(least.count());
        CHECK(woken == 0);
        signal.store(0);
        for (std::thread& waiter : waiters) waiter.join();
        CHECK(woken == 64);
    }
}

TEST_CASE("waiters for one and for several signals share signals", "[signal][wait][stress]") {
    NEEDS_DEVICE();
    const Device device;
    const auto signals = signals_at(1, 8);
    std::atomic<int> woken{0};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 8; ++i) {
        waiters.emplace_back([&] { woken += try_wait_any(complete(signals), patience).has_value(); });
        waiters.emplace_back([&] { woken += try_wait_all(complete(signals), patience); });
        waiters.emplace_back([&, i] {
            woken += signals[static_cast<std::size_t>(i)].try_wait(Condition::equal, 0, patience).has_value();
        });
    }
    std::this_thread::sleep_for(20ms);
    for (const Signal& signal : signals) signal.store(0);
    for (std::thread& waiter : waiters) waiter.join();
    CHECK(woken == 24);
}

namespace {

void ignore_signal(int) {}

/// Sends SIGUSR1 to a thread continuously; its system calls end with EINTR.
class Storm {
  public:
    explicit Storm(pthread_t target) {
        struct sigaction action{};
        action.sa_handler = ignore_signal;  // no SA_RESTART
        ::sigaction(SIGUSR1, &action, &before_);
        thread_ = std::thread([this, target] {
            while (!stop_) {
                ::pthread_kill(target, SIGUSR1);
                ++sent_;
                std::this_thread::sleep_for(200us);
            }
        });
    }
    ~Storm() {
        stop_ = true;
        thread_.join();
        ::sigaction(SIGUSR1, &before_, nullptr);
    }
    int sent() const { return sent_; }

  private:
    struct sigaction before_{};
    std::atomic<bool> stop_{false};
    std::atomic<int> sent_{0};
    std::thread thread_;
};

}  // namespace

TEST_CASE("frequent EINTR neither ends a wait early nor extends it beyond its deadline", "[signal][wait]") {
    NEEDS_DEVICE();
    const Device device;
    const auto signals = signals_at(1, 3);
    const Storm storm(::pthread_self());
    const auto start = Deadline::Clock::now();
    CHECK_FALSE(signals[0].try_wait(Condition::equal, 0, 100ms));
    CHECK(Deadline::Clock::now() - start >= 100ms);
    CHECK_FALSE(try_wait_any(complete(signals), 100ms));
    CHECK(Deadline::Clock::now() - start >= 200ms);
    CHECK(Deadline::Clock::now() - start < 10s);
    std::thread other([&] {
        std::this_thread::sleep_for(50ms);
        for (const Signal& signal : signals) signal.store(0);
    });
    CHECK(signals[0].wait(Condition::equal, 0, patience) == 0);
    wait_all(complete(signals), patience);
    other.join();
    CHECK(storm.sent() > 10);
}

TEST_CASE("without interrupts waits also sleep, and end", "[signal][wait]") {
    NEEDS_DEVICE();
    const ChildResult child = run_test_in_child("child: waits without interrupts", "HSA_ENABLE_INTERRUPT", "0");
    INFO(child.output);
    CHECK(child.status == 0);
}

TEST_CASE("child: waits without interrupts", "[.child]") {
    const Device device;
    const auto signals = signals_at(1, 3);
    const auto change = [&] {
        std::this_thread::sleep_for(60ms);
        signals[1].store(0);
    };
    std::thread first(change);
    CHECK(wait_any(complete(signals), patience) == 1);
    first.join();
    signals[1].store(1);
    std::thread second(change);
    CHECK(signals[1].wait(Condition::equal, 0, patience) == 0);
    second.join();
    CHECK_FALSE(signals[0].try_wait(Condition::equal, 0, 0ms));
    CHECK_FALSE(signals[0].try_wait(Condition::equal, 0, 20ms));

    std::atomic<bool> called{false};
    device.driver.callbacks().on_signal(signals[0], Condition::less, 1, [&] { called = true; });
    const Queue queue = Queue::create(device.gpu);
    queue.ref().submit(barrier_and({}, signals[0].native()));
    device.driver.callbacks().drain(patience);
    CHECK(called);
}

TEST_CASE("timeouts: zero, finite, beyond the clock's range, none", "[signal][wait][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(1);
    CHECK_FALSE(signal.try_wait(Condition::equal, 0, 0ms));
    CHECK_FALSE(signal.try_wait(Condition::equal, 0, -5s));
    CHECK_FALSE(signal.try_wait(Condition::equal, 0, 10ms));
    const Deadline endless[] = {Deadline(), Deadline::never(), Deadline(std::chrono::hours(24 * 365 * 200)),
                                Deadline(std::chrono::duration<double>(std::numeric_limits<double>::infinity()))};
    for (const Deadline& deadline : endless) {
        signal.store(1);
        std::thread other([&] {
            std::this_thread::sleep_for(5ms);
            signal.store(0);
        });
        CHECK(signal.wait(Condition::equal, 0, deadline) == 0);
        other.join();
    }
}

TEST_CASE("a wait in a forked child is refused", "[signal][wait][fork]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(1);
    const pid_t child = ::fork();
    if (child == 0) {
        int failed = 0;
        failed += signal.try_wait(Condition::equal, 1, 0ms).has_value();
        try {
            signal.wait(Condition::equal, 0);
            ++failed;
        } catch (const ForkedChild&) {
        }
        try {
            const SignalTerm terms[] = {{signal}, {signal}};
            wait_any(terms);
            ++failed;
        } catch (const ForkedChild&) {
        }
        ::_exit(failed);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
