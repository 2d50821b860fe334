// Streams that fail on the host: they wait for lost work, or their host function throws. What was enqueued before the
// failure still runs, and every waiter learns which work did.
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// An event after a host function that throws "on purpose".
Event lost_event_of(Stream& fails) {
    std::atomic<bool> recorded{false};
    fails.call([&] {
        while (!recorded) std::this_thread::sleep_for(1ms);
        throw std::runtime_error("on purpose");
    });
    const Event lost = fails.record();
    recorded = true;
    CHECK_THROWS_WITH(lost.synchronize(patience), Contains("on purpose"));
    return lost;
}

/// A stream with a running kernel, and its event; then the stream fails because it waits for work that is lost.
struct FailsWhileRunning : Kernels {
    Words flag{1}, data{1};
    Stream fails{gpu}, upstream{gpu, {.exclusive_queue = true}};
    Event before;

    explicit FailsWhileRunning(Stream& waits) {
        spin.launch(upstream, one, flag.data());
        before = upstream.record();
        waits.wait(before);
        scale_add.launch(waits, one, data.data(), 0u, 7u, 1u);
        const Event lost = lost_event_of(fails);
        CHECK_THROWS_WITH(upstream.wait(lost), Contains("on purpose"));
    }
};
}  // namespace

TEST_CASE("work enqueued before a stream fails on the host completes, and its waiters run", "[stream][event][error]") {
    NEEDS_DEVICE();
    const Device device;
    for (const bool exclusive : {false, true}) {
        Stream waits(device.gpu, {.exclusive_queue = exclusive});
        FailsWhileRunning f(waits);
        CHECK_THROWS_WITH(f.upstream.synchronize(patience), Contains("on purpose"));
        CHECK_FALSE(waits.query());
        CHECK_FALSE(f.before.query());
        f.flag.set(1);
        CHECK_NOTHROW(waits.synchronize(patience));
        CHECK_NOTHROW(f.before.synchronize(patience));
        CHECK(f.data.get() == 7);
    }
}

TEST_CASE("work that waits when its stream fails on the host runs when it may", "[stream][event][copy][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1), data(1), from(1, 3), to(1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4);
    const Signal waited = Signal::create(1);
    std::atomic<int> told{0};
    Stream fails(f.gpu), runs(f.gpu, {.exclusive_queue = true}), stream(f.gpu, {.exclusive_queue = true});
    f.spin.launch(runs, one, flag.data());
    stream.wait(runs.record());
    stream.wait(waited, Condition::less, 1);
    f.scale_add.launch(stream, one, data.data(), 0u, 7u, 1u);
    const Event kernel = stream.record();
    stream.copy_async(device.data(), from.data(), 4);
    stream.copy_async(to.data(), device.data(), 4);
    const Event copy = stream.record();
    stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    CHECK_THROWS_WITH(stream.wait(lost_event_of(fails)), Contains("on purpose"));
    let_time_pass();
    CHECK_FALSE(kernel.query());
    CHECK_FALSE(copy.query());
    CHECK(told == 0);
    flag.set(1);
    waited.store(0);
    CHECK_NOTHROW(kernel.synchronize(patience));
    CHECK(data.get() == 7);
    CHECK_NOTHROW(copy.synchronize(patience));
    CHECK(to.get() == 3);
    CHECK(eventually([&] { return told == 2; }));
    CHECK_THROWS_WITH(stream.synchronize(patience), Contains("on purpose"));
}

TEST_CASE("a stream that fails on the host loses its waiting host functions, and what is enqueued after them alone",
          "[stream][event][host][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1), data(2);
    std::atomic<bool> called{false};
    Stream fails(f.gpu), stream(f.gpu, {.exclusive_queue = true});
    f.spin.launch(stream, one, flag.data());
    f.scale_add.launch(stream, one, data.data(), 0u, 7u, 1u);
    const Event before = stream.record();
    stream.call([&] { called = true; });
    f.scale_add.launch(stream, one, data.data() + 1, 0u, 7u, 1u);
    const Event after = stream.record();
    CHECK_THROWS_WITH(stream.wait(lost_event_of(fails)), Contains("on purpose"));
    CHECK_THROWS_WITH(after.synchronize(patience), Contains("on purpose"));
    CHECK_FALSE(before.query());
    flag.set(1);
    CHECK_NOTHROW(before.synchronize(patience));
    CHECK(data.get() == 7);
    CHECK(data.get(1) == 0);
    CHECK_FALSE(called);
}

TEST_CASE("a stream that fails on the host keeps its queue while work before the failure waits",
          "[stream][event][pool][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1), data(1);
    Stream fails(f.gpu), runs(f.gpu, {.exclusive_queue = true});
    std::vector<Stream> streams = crowd(f.gpu);
    Stream &stream = streams[0], &neighbour = *neighbours_of_first(streams).at(0);
    f.spin.launch(runs, one, flag.data());
    stream.wait(runs.record());
    f.scale_add.launch(stream, one, data.data(), 0u, 7u, 1u);
    const Event before = stream.record();
    stream.call([] {});
    f.scale_add.launch(stream, one, data.data(), 0u, 8u, 1u);
    CHECK_THROWS_WITH(stream.wait(lost_event_of(fails)), Contains("on purpose"));
    f.scale_add.launch(neighbour, one, data.data(), 1u, 1u, 1u);
    CHECK_THROWS_AS(neighbour.synchronize(1s), Timeout);
    flag.set(1);
    CHECK_NOTHROW(before.synchronize(patience));
    CHECK_NOTHROW(neighbour.synchronize(patience));  // the failed stream's next packet waits for lost work
    CHECK(data.get() == 8);
}

TEST_CASE("work enqueued before a stream fails on the host is lost if the stream is closed first",
          "[stream][event][error]") {
    NEEDS_DEVICE();
    const Device device;
    Stream waits(device.gpu);
    FailsWhileRunning f(waits);
    CHECK_FALSE(f.upstream.close(20ms));
    CHECK_THROWS_WITH(waits.synchronize(patience), Contains("on purpose"));
    CHECK_THROWS_WITH(f.before.synchronize(patience), Contains("on purpose"));
    f.flag.set(1);
    let_time_pass();
    CHECK(f.data.get() == 0);
}

TEST_CASE("work of a stream that fails on a stopped queue is lost, also what was enqueued before the failure",
          "[stream][event][error]") {
    NEEDS_DEVICE();
    Busy f;
    Stream fails(f.gpu, {.exclusive_queue = true});
    const Event lost = lost_event_of(fails);
    break_queue(f.runs);  // after its kernel
    f.scale_add.launch(f.after, one, f.data.data(), 0u, 7u, 1u);
    const Event before = f.after.record();
    f.flag.set(1);
    for (const Deadline deadline(patience); !f.after.core().shared_queue()->dead() && !deadline.passed();)
        std::this_thread::yield();
    CHECK_THROWS_WITH(f.after.wait(lost), Contains("on purpose"));
    CHECK_THROWS_WITH(before.synchronize(patience), Contains("on purpose"));
    CHECK(f.data.get() == 0);
}

TEST_CASE("a copy that waits on a queue that stops is lost with its failed stream", "[stream][copy][pool][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words mine(1), theirs(1), from(1, 3), to(1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4);
    std::atomic<int> told{0};
    Stream fails(f.gpu, {.exclusive_queue = true});
    const Event lost = lost_event_of(fails);
    std::vector<Stream> streams = crowd(f.gpu);
    Stream &stream = streams[0], &neighbour = *neighbours_of_first(streams).at(0);
    f.spin.launch(stream, one, mine.data());
    f.spin.launch(neighbour, one, theirs.data());
    stream.copy_async(device.data(), from.data(), 4);
    const Event copy = stream.record();
    stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    CHECK_THROWS_WITH(stream.wait(lost), Contains("on purpose"));
    mine.set(1);
    for (const Deadline deadline(patience); stream.core().timeline()->finished() < 1 && !deadline.passed();)
        std::this_thread::yield();
    CHECK_FALSE(neighbour.close(20ms));
    CHECK(stream.core().shared_queue()->dead());
    CHECK_THROWS_WITH(copy.synchronize(patience), Contains("on purpose"));
    CHECK(eventually([&] { return told == 1; }));
    theirs.set(1);
}

TEST_CASE("a failed stream learns that work it waited for before its failure is lost, too",
          "[stream][event][pool][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words fa(1), fc(1), data(1);
    std::atomic<int> told{0};
    std::vector<Stream> streams = crowd(f.gpu);
    Stream &b = streams[0], &neighbour = *neighbours_of_first(streams).at(0);
    Stream a(f.gpu, {.exclusive_queue = true}), c(f.gpu, {.exclusive_queue = true});
    f.spin.launch(a, one, fa.data());
    f.spin.launch(c, one, fc.data());
    b.wait(a.record());
    b.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    b.wait(c.record());
    f.scale_add.launch(b, one, data.data(), 0u, 7u, 1u);
    CHECK_FALSE(c.close(20ms));
    for (const Deadline deadline(patience); !b.failed() && !deadline.passed();) std::this_thread::yield();
    CHECK(b.failed());
    CHECK(told == 0);
    CHECK_FALSE(a.close(20ms));
    f.scale_add.launch(neighbour, one, data.data(), 1u, 1u, 1u);
    CHECK_NOTHROW(neighbour.synchronize(patience));
    CHECK(eventually([&] { return told == 1; }));
    fa.set(1);
    fc.set(1);
}

TEST_CASE("drain() returns after a callback whose stream has failed meanwhile", "[stream][signal][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1);
    std::atomic<int> told{0}, at_drain{-1};
    Stream fails(f.gpu), stream(f.gpu, {.exclusive_queue = true});
    const Event lost = lost_event_of(fails);
    f.spin.launch(stream, one, flag.data());
    stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    std::thread drains([&] {
        f.driver.callbacks().drain(patience);
        at_drain = told.load();
    });
    std::this_thread::sleep_for(200ms);
    CHECK(at_drain == -1);
    CHECK_THROWS_WITH(stream.wait(lost), Contains("on purpose"));
    let_time_pass();
    flag.set(1);
    drains.join();
    CHECK(at_drain == 2);
}

TEST_CASE("Event::query() tells of work after a lost host function", "[stream][event][host][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1), data(1);
    Stream fails(f.gpu), stream(f.gpu, {.exclusive_queue = true});
    const Event lost = lost_event_of(fails);
    f.spin.launch(stream, one, flag.data());
    stream.call([] {});
    f.scale_add.launch(stream, one, data.data(), 0u, 7u, 1u);
    const Event after = stream.record();
    CHECK_THROWS_WITH(stream.wait(lost), Contains("on purpose"));
    flag.set(1);
    bool threw = false;
    for (const Deadline deadline(5s); !threw && !deadline.passed();) {
        try {
            static_cast<void>(after.query());
            std::this_thread::sleep_for(10ms);
        } catch (const std::runtime_error&) {
            threw = true;
        }
    }
    CHECK(threw);
}

TEST_CASE("a profile does not call work failed that its failed stream still runs", "[stream][profile][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1), data(1);
    Stream fails(f.gpu), stream(f.gpu, {.exclusive_queue = true, .profile = true});
    const Event lost = lost_event_of(fails);
    f.spin.launch(stream, one, flag.data());
    const Event e = stream.record();
    CHECK_THROWS_WITH(stream.wait(lost), Contains("on purpose"));
    const Profile p = stream.take_profile();
    flag.set(1);
    CHECK_NOTHROW(e.synchronize(patience));
    for (const auto& r : p.records) CHECK_FALSE(r.failed);
}

TEST_CASE("a graph can be updated after a launch that is over and lost", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1), data(1);
    Stream fails(f.gpu), stream(f.gpu, {.exclusive_queue = true}), records(f.gpu);
    const Event lost = lost_event_of(fails);
    records.begin_capture();
    f.scale_add.launch(records, one, data.data(), 0u, 7u, 1u);
    records.call([] {});
    Graph graph = records.end_capture();
    f.spin.launch(stream, one, flag.data());
    graph.launch(stream);
    CHECK_NOTHROW(graph.update(0, f.scale_add, one, data.data(), 0u, 8u, 1u));
    CHECK_THROWS_WITH(stream.wait(lost), Contains("on purpose"));
    flag.set(1);
    CHECK(eventually([&] { return data.get() == 7; }));
    let_time_pass();
    CHECK_NOTHROW(graph.update(0, f.scale_add, one, data.data(), 0u, 9u, 1u));
    CHECK_NOTHROW(graph.update(0, f.scale_add, one, data.data(), 0u, 9u, 1u));
}
