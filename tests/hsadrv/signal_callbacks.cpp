// Callbacks on signals: once, in order, on a separate thread, whatever they do.
#include "hsadrv/signal_callbacks.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// The values recorded by callbacks, in order.
struct Journal {
    std::mutex mutex;
    std::vector<int> entries;
    void add(int entry) {
        const std::lock_guard lock(mutex);
        entries.push_back(entry);
    }
    std::vector<int> now() {
        const std::lock_guard lock(mutex);
        return entries;
    }
};

}  // namespace

TEST_CASE("a callback runs when its condition holds, on a separate thread", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    const Signal signal = Signal::create(2);
    std::atomic<int> calls{0};
    std::thread::id where;
    callbacks.on_signal(signal, Condition::less, 1, [&] {
        where = std::this_thread::get_id();
        ++calls;
    });
    signal.store(1);
    CHECK_THROWS_AS(callbacks.drain(30ms), Timeout);
    CHECK_THROWS_WITH(callbacks.drain(30ms), Contains("1 callbacks have not run"));
    CHECK(calls == 0);
    signal.store(0);
    callbacks.drain(patience);
    CHECK(calls == 1);
    CHECK(where != std::this_thread::get_id());
}

TEST_CASE("a condition that already holds runs the callback at once", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(7);
    struct Row {
        Condition condition;
        std::int64_t than;
    };
    for (const Row row : {Row{Condition::equal, 7}, Row{Condition::not_equal, 0}, Row{Condition::less, 8},
                          Row{Condition::greater_equal, 7}}) {
        CAPTURE(int(row.condition));
        bool called = false;
        device.driver.callbacks().on_signal(signal, row.condition, row.than, [&] { called = true; });
        device.driver.callbacks().drain(patience);
        CHECK(called);
    }
}

TEST_CASE("a packet's completion calls back", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu);
    const Signal done = Signal::create(1);
    std::atomic<bool> called{false};
    device.driver.callbacks().on_signal(done, Condition::less, 1, [&] { called = true; });
    queue.ref().submit(barrier_and({}, done.native()));
    device.driver.callbacks().drain(patience);
    CHECK(called);
}

TEST_CASE("a handler runs exactly once, however often its condition becomes true", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    const Signal signal = Signal::create(1);
    std::atomic<int> calls{0};
    callbacks.on_signal(signal, Condition::equal, 0, [&] { ++calls; });
    for (int i = 0; i < 200; ++i) {
        signal.store(0);
        if (i == 0) callbacks.drain(patience);
        signal.store(1);
    }
    callbacks.drain(patience);
    CHECK(calls == 1);
    CHECK(callbacks.counts().waiting == 0);
    CHECK(callbacks.counts().run == 1);
}

TEST_CASE("callbacks of a falling signal run in the order of their registration", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    constexpr int count = 300;
    const Signal signal = Signal::create(count);
    Journal journal;
    for (int i = 0; i < count; ++i) callbacks.on_signal(signal, Condition::less, count - i, [&, i] { journal.add(i); });
    // From two threads and in steps of one, so that the thread checks while the value falls.
    std::thread other([&] {
        for (int i = 0; i < count / 2; ++i) signal.ref().subtract(1);
    });
    for (int i = 0; i < count / 2; ++i) signal.ref().subtract(1);
    other.join();
    callbacks.drain(patience);
    const auto ran = journal.now();
    REQUIRE(ran.size() == count);
    for (int i = 0; i < count; ++i) CHECK(ran[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("callbacks due together run in the order of registration, whatever their signals", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    const Signal gate = Signal::create(1);
    std::vector<Signal> signals;
    Journal journal;
    // The first one blocks the thread until all of the others are due.
    const Signal blocked = Signal::create(1);
    callbacks.on_signal(gate, Condition::less, 1, [&] {
        blocked.store(0);
        gate.wait(Condition::equal, -1, patience);
    });
    for (int i = 0; i < 20; ++i) signals.push_back(Signal::create(1));
    for (int i = 0; i < 20; ++i)
        callbacks.on_signal(signals[static_cast<std::size_t>(i)], Condition::less, 1, [&, i] { journal.add(i); });
    gate.store(0);
    blocked.wait(Condition::equal, 0, patience);
    for (int i = 20; i-- > 0;) signals[static_cast<std::size_t>(i)].store(0);
    gate.store(-1);
    callbacks.drain(patience);
    const auto ran = journal.now();
    REQUIRE(ran.size() == 20);
    CHECK(std::is_sorted(ran.begin(), ran.end()));
}

TEST_CASE("a callback's exception is kept and reported once; the other callbacks run", "[callback][error]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    const Signal signal = Signal::create(0);
    std::atomic<int> calls{0};
    callbacks.on_signal(signal, Condition::equal, 0, [] { throw std::runtime_error("the first"); });
    callbacks.on_signal(signal, Condition::equal, 0, [] { throw 42; });
    callbacks.on_signal(signal, Condition::equal, 0, [&] { ++calls; });
    CHECK_THROWS_WITH(callbacks.drain(patience), "the first");
    CHECK(calls == 1);
    CHECK(callbacks.counts().threw == 2);
    CHECK_NOTHROW(callbacks.drain(patience));
    CHECK(callbacks.take_error() == nullptr);

    callbacks.on_signal(signal, Condition::equal, 0, [] { throw 42; });
    CHECK(eventually([&] { return callbacks.counts().threw == 3; }));
    CHECK(callbacks.take_error() != nullptr);
    CHECK_NOTHROW(callbacks.drain(patience));
}

TEST_CASE("a cancelled callback never runs, and its captures are destroyed", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    Signal signal = Signal::create(1);
    auto captured = std::make_shared<int>(1);
    std::atomic<bool> called{false};
    const auto id = callbacks.on_signal(signal, Condition::less, 1, [&, captured] { called = true; });
    CHECK(captured.use_count() == 2);
    std::this_thread::sleep_for(20ms);  // asleep on this signal
    CHECK(callbacks.cancel(id));
    CHECK(captured.use_count() == 1);
    signal = Signal();  // no thread waits for it any more
    CHECK_FALSE(callbacks.cancel(id));
    CHECK_FALSE(callbacks.cancel(12345));
    callbacks.drain(patience);
    CHECK_FALSE(called);
    CHECK(callbacks.counts().dropped == 1);
}

TEST_CASE("cancelling a running callback waits for its end; after the end it returns false", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    const Signal signal = Signal::create(0);
    std::atomic<bool> begun{false}, over{false};
    const auto id = callbacks.on_signal(signal, Condition::equal, 0, [&] {
        begun = true;
        std::this_thread::sleep_for(50ms);
        over = true;
    });
    while (!begun) std::this_thread::yield();
    CHECK_FALSE(callbacks.cancel(id));
    CHECK(over);
}

TEST_CASE("callbacks may register and cancel, and are refused a wait for themselves", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    const Signal signal = Signal::create(0), never = Signal::create(1);
    std::atomic<int> depth{0};
    std::atomic<bool> refused{false}, cancelled{false};
    const auto other = callbacks.on_signal(never, Condition::equal, 0, [] {});
    std::function<void()> again = [&] {
        if (++depth < 50) callbacks.on_signal(signal, Condition::equal, 0, again);
        if (depth != 50) return;
        cancelled = callbacks.cancel(other);
        try {
            callbacks.drain(1ms);
        } catch (const Timeout&) {
        } catch (const Error&) {
            refused = true;
        }
    };
    callbacks.on_signal(signal, Condition::equal, 0, again);
    while (depth < 50 || callbacks.counts().waiting != 0) std::this_thread::sleep_for(1ms);
    CHECK(cancelled);
    CHECK(refused);
}

TEST_CASE("callbacks pending at the runtime's end are dropped, and their captures destroyed", "[callback]") {
    NEEDS_DEVICE();
    auto captured = std::make_shared<int>(1);
    std::atomic<bool> called{false};
    {
        const Driver driver;
        // A native signal: an owner would keep the runtime alive.
        const std::shared_ptr<hsa_signal_t> signal(new auto(Signal::create(1).release()), [](hsa_signal_t* native) {
            hsa_signal_destroy(*native);
            delete native;
        });
        driver.callbacks().on_signal(SignalRef(*signal), Condition::less, 1, [&, captured, signal] { called = true; });
        CHECK(captured.use_count() == 2);
    }
    CHECK(captured.use_count() == 1);
    CHECK_FALSE(called);
    CHECK_THROWS_AS(Driver::current(), Error);
}

TEST_CASE("the runtime may end in a callback", "[callback]") {
    NEEDS_DEVICE();
    for (int round = 0; round < 5; ++round) {
        std::atomic<bool> over{false};
        const auto only = std::make_shared<std::optional<Driver>>(std::in_place);
        const hsa_signal_t signal = Signal::create(1).release();
        (*only)->callbacks().on_signal(SignalRef(signal), Condition::less, 1, [only, signal, &over] {
            hsa_signal_destroy(signal);
            only->reset();  // the last reference: the callback thread ends itself
            over = true;
        });
        SignalRef(signal).store(0);
        while (!over) std::this_thread::sleep_for(1ms);
        CHECK_THROWS_AS(Driver::current(), Error);
        CHECK_NOTHROW(Driver());
    }
}

TEST_CASE("callbacks of many threads and signals all run", "[callback][stress]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    constexpr int threads = 4, each = 100;
    std::atomic<int> calls{0}, dropped{0};
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
        workers.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                const auto signal = std::make_shared<Signal>(Signal::create(1));
                const auto id = callbacks.on_signal(*signal, Condition::less, 1, [&, signal] { ++calls; });
                signal->store(0);
                if (i % 5 == 0) dropped += callbacks.cancel(id);
            }
        });
    for (std::thread& worker : workers) worker.join();
    callbacks.drain(patience);
    CHECK(calls + dropped == threads * each);
    CHECK(callbacks.counts().run == static_cast<std::uint64_t>(calls));
    CHECK(callbacks.counts().dropped == static_cast<std::uint64_t>(dropped));
}

TEST_CASE("a null signal or function is refused", "[callback]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(1);
    CHECK_THROWS_AS(device.driver.callbacks().on_signal(SignalRef(), Condition::less, 1, [] {}), InvalidArgument);
    CHECK_THROWS_AS(device.driver.callbacks().on_signal(signal, Condition::less, 1, {}), InvalidArgument);
}

TEST_CASE("a forked child is refused with the reason, and exits normally", "[callback][fork]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks& callbacks = device.driver.callbacks();
    const Signal signal = Signal::create(1);
    std::atomic<bool> called{false};
    callbacks.on_signal(signal, Condition::less, 1, [&] { called = true; });
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 1;
        try {
            callbacks.on_signal(signal, Condition::less, 1, [] {});
        } catch (const ForkedChild&) {
            status = 0;
        } catch (...) {
        }
        ::_exit(status);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    signal.store(0);
    callbacks.drain(patience);
    CHECK(called);
}

TEST_CASE("a bell calls its function, also if a packet rings it", "[callbacks]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu);
    std::atomic<int> rung{0};
    SignalCallbacks bells("bells", [&] { ++rung; });
    const SignalRef bell = bells.bell();
    for (int i = 0; i < 100; ++i) {
        const int before = rung;
        if (i % 2 == 0)
            bell.add(1);
        else
            queue.ref().submit(barrier_and({}, bell.native()));  // a packet subtracts
        REQUIRE(eventually([&] { return rung > before; }));
    }
    Signal other = Signal::create(1);
    std::atomic<bool> called{false};
    bells.on_signal(other, Condition::less, 1, [&] { called = true; });
    other.store(0);
    CHECK(eventually([&] { return called.load(); }));
}
