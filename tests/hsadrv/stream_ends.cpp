// Streams that end: what is waited for, and what stays valid for packets that are still in a ring.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

constexpr LaunchConfig one{.grid = 1, .workgroup = 1};

/// Two streams on one hardware queue; the first one's kernel runs until `flag` is set.
struct Busy : Kernels {
    Words flag{1}, data{4};
    std::vector<Stream> streams = crowd(gpu);
    Stream &runs = streams[0], &after = *neighbours_of_first(streams).at(0);
    Busy() { spin.launch(runs, one, flag.data()); }
};

/// A stream with a kernel that runs until `flag` is set, and one after it.
struct Draining : Kernels {
    Words flag{1}, data{1};
    std::optional<Stream> stream{gpu};
    Draining() {
        spin.launch(*stream, one, flag.data());
        scale_add.launch(*stream, one, data.data(), 0u, 7u, 1u);
    }
};

/// Sets the flag some time later.
struct Later {
    explicit Later(const Words& flag)
        : thread([&flag] {
              std::this_thread::sleep_for(200ms);
              flag.set(1);
          }) {}
    ~Later() { thread.join(); }
    std::thread thread;
};

}  // namespace

TEST_CASE("a stream drains its work although an earlier wait timed out at scope exit", "[stream][deadline]") {
    NEEDS_DEVICE();
    Draining f;
    {
        const auto scope = f.stream->auto_synchronize(1ms);
    }
    const Later later(f.flag);
    f.stream.reset();
    CHECK(f.data.get() == 7);
}

TEST_CASE("a stream drains its work although it is being captured", "[stream][graph]") {
    NEEDS_DEVICE();
    Draining f;
    const Later later(f.flag);
    f.stream->begin_capture();
    f.stream.reset();  // as if by an exception
    CHECK(f.data.get() == 7);
}

TEST_CASE("close() keeps its deadline while another thread waits in a call of the stream", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(2);
    Stream stream(f.gpu, {.exclusive_queue = true});
    f.spin.launch(stream, one, flag.data());
    std::vector<std::uint8_t> pageable(16);
    std::thread waits([&] {  // with the stream's mutex: the host copies when the kernel has ended
        try {
            stream.copy_async(pageable.data(), data.data(), 8);
        } catch (const Error&) {
        }
    });
    std::this_thread::sleep_for(100ms);
    detail::StreamCore& core = stream.core();
    CHECK_THROWS_AS(core.abandon(20ms), Timeout);
    flag.set(1);
    waits.join();
    CHECK(stream.close(patience));
}

TEST_CASE("auto_synchronize of a closed stream is refused, and of a stream closed in its scope does nothing",
          "[stream][error]") {
    NEEDS_DEVICE();
    const Device device;
    Stream closed(device.gpu), closes(device.gpu);
    closed.close();
    CHECK_THROWS_AS(closed.auto_synchronize(), StreamEnded);
    const auto scope = closes.auto_synchronize(patience);
    closes.close();
}

TEST_CASE("a destroyed signal is not reused while a packet of a closed stream may decrement it", "[stream][signal]") {
    NEEDS_DEVICE();
    Busy f;
    std::vector<Signal> fresh;
    std::optional<Signal> signal = Signal::create(1);
    f.after.decrement(*signal);
    CHECK_FALSE(f.after.close(20ms));
    signal.reset();
    for (int i = 0; i < 1000; ++i) fresh.push_back(Signal::create(5));
    f.scale_add.launch(f.runs, one, f.data.data(), 0u, 1u, 1u);  // after the packet that decrements
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(std::all_of(fresh.begin(), fresh.end(), [](const Signal& each) { return each.ref().load() == 5; }));
}

TEST_CASE("arguments of a lost graph launch stay as they are, and the graph can be updated and launched",
          "[graph][error]") {
    NEEDS_DEVICE();
    Busy f;
    Stream records(f.gpu);
    records.begin_capture();
    f.scale_add.launch(records, one, f.data.data(), 0u, 7u, 1u);
    Graph graph = records.end_capture();
    graph.launch(f.after);
    CHECK_FALSE(f.after.close(20ms));
    for (std::uint32_t i = 1; i < 4; ++i)
        CHECK_NOTHROW(graph.update(0, f.scale_add, one, f.data.data() + i, 0u, 8u, 1u));
    f.scale_add.launch(f.runs, one, f.data.data() + 2, 0u, 1u, 1u);  // after the lost one's packet
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(is_written_or_stopped(f.data, 7));  // by the packet that was in the ring
    CHECK(f.data.get(3) == 0);
    graph.launch(records);
    CHECK_NOTHROW(records.synchronize(patience));
    CHECK(f.data.get(1) == 0);
    CHECK(f.data.get(3) == 8);
}

TEST_CASE("a graph of which a launch is lost does not grow with each update", "[graph][error]") {
    NEEDS_DEVICE();
    Busy f;
    Stream records(f.gpu);
    records.begin_capture();
    f.scale_add.launch(records, one, f.data.data(), 0u, 7u, 1u);
    Graph graph = records.end_capture();
    graph.launch(f.after);
    CHECK_FALSE(f.after.close(20ms));
    const std::size_t before = live_allocations().size();
    for (std::uint32_t i = 0; i < 2000; ++i) graph.update(0, f.scale_add, one, f.data.data() + 1, 0u, i, 1u);
    CHECK(live_allocations().size() == before);
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    graph.launch(records);
    CHECK_NOTHROW(records.synchronize(patience));
    CHECK(f.data.get(1) == 1999);
}

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
    std::this_thread::sleep_for(300ms);
    CHECK_FALSE(kernel.query());
    CHECK_FALSE(copy.query());
    CHECK(told == 0);
    flag.set(1);
    waited.store(0);
    CHECK_NOTHROW(kernel.synchronize(5s));
    CHECK(data.get() == 7);
    CHECK_NOTHROW(copy.synchronize(5s));
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
    CHECK_THROWS_WITH(after.synchronize(5s), Contains("on purpose"));
    CHECK_FALSE(before.query());
    flag.set(1);
    CHECK_NOTHROW(before.synchronize(5s));
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
    CHECK_NOTHROW(before.synchronize(5s));
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
    std::this_thread::sleep_for(300ms);
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
    CHECK_THROWS_WITH(before.synchronize(5s), Contains("on purpose"));
    CHECK(f.data.get() == 0);
}

TEST_CASE("a queue that a kernel's arguments name is kept until its kernel is complete", "[stream][pool]") {
    NEEDS_DEVICE();
    Busy f;
    const Words last(1);
    for (Stream& stream : f.streams)
        if (&stream != &f.runs && &stream != &f.after) stream.close();
    detail::StreamCore& core = f.after.core();
    const std::weak_ptr<detail::SharedQueue> old = core.shared_queue();
    break_queue(f.runs);  // once its kernel has ended
    while (core.timeline()->submitted() < StreamOptions().packets) f.after.submit(std::array{barrier_and({})});
    std::thread launches([&] {
        const std::uint32_t* const argument = last.data();
        f.after.dispatch({.grid = {1, 1, 1},
                          .workgroup = {1, 1, 1},
                          .kernel_object = f.spin.kernel_object(),
                          .kernarg_bytes = sizeof argument,
                          .names_queue = true},
                         [&](std::byte* kernarg) { std::memcpy(kernarg, &argument, sizeof argument); });
    });
    std::this_thread::sleep_for(100ms);
    f.flag.set(1);
    launches.join();
    CHECK_THROWS_AS(f.runs.synchronize(patience), QueueError);
    f.runs.close();
    CHECK_THROWS_AS(f.after.synchronize(200ms), Timeout);  // releases what is over
    static_cast<void>(f.after.query());
    CHECK(core.shared_queue() != old.lock());
    CHECK_FALSE(old.expired());
    last.set(1);
    CHECK_NOTHROW(f.after.synchronize(patience));
}

TEST_CASE("a graph is launched on a queue with fewer packets than it has kernels", "[graph]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(1);
    Stream records(f.gpu), small(f.gpu, {.packets = 64, .exclusive_queue = true});
    records.begin_capture();
    for (int i = 0; i < 200; ++i) f.scale_add.launch(records, one, data.data(), 1u, 1u, 1u);
    const Graph graph = records.end_capture();
    CHECK_NOTHROW(graph.launch(small));
    CHECK_NOTHROW(small.synchronize(patience));
    CHECK(data.get() == 200);
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
    CHECK_THROWS_WITH(copy.synchronize(5s), Contains("on purpose"));
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
    CHECK_NOTHROW(neighbour.synchronize(10s));
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
        f.driver.callbacks().drain(20s);
        at_drain = told.load();
    });
    std::this_thread::sleep_for(200ms);
    CHECK(at_drain == -1);
    CHECK_THROWS_WITH(stream.wait(lost), Contains("on purpose"));
    std::this_thread::sleep_for(300ms);
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

TEST_CASE("a callback is not told that a lost copy is complete", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Kernels f;
    int wrong = 0, rounds = 0;
    for (const Deadline deadline(2s); !deadline.passed() && wrong == 0; ++rounds) {
        Stream stream(f.gpu);
        std::atomic<int> told{0};
        std::shared_ptr<PooledSignal> done;
        {
            detail::StreamCore& core = stream.core();
            Words data(1);
            const auto held = core.writer().lock({}, "test");
            static_cast<void>(core.put_copy(
                [&](std::span<const hsa_signal_t>, const std::shared_ptr<PooledSignal>& signal) {
                    done = signal;
                    return HSA_STATUS_SUCCESS;
                },
                {data.data(), f.gpu}, {data.data(), f.gpu}, 4, {}, {}));
        }
        stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
        const auto timeline = stream.core().timeline();
        std::thread hurries([&] {
            for (int i = 0; i < 200 && told == 0; ++i)
                timeline->fail(std::make_exception_ptr(std::runtime_error("x")), timeline->submitted());
        });
        std::this_thread::sleep_for(std::chrono::microseconds(rounds % 200));
        done->ref().store(-1);
        while (told == 0) std::this_thread::yield();
        hurries.join();
        wrong += told == 2;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a copy that waits on an exclusive queue that stops is lost", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words mine(1), from(1, 3), to(1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4);
    std::atomic<int> told{0};
    Stream stream(f.gpu, {.exclusive_queue = true});
    f.spin.launch(stream, one, mine.data());
    stream.queue().submit(bad_packet());
    stream.copy_async(device.data(), from.data(), 4);
    const Event copy = stream.record();
    stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    mine.set(1);
    for (const Deadline deadline(patience); !stream.failed() && !deadline.passed();) std::this_thread::yield();
    CHECK(stream.failed());
    CHECK_THROWS_AS(copy.synchronize(5s), QueueError);
    CHECK(eventually([&] { return told == 1; }));
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
    CHECK_NOTHROW(e.synchronize(5s));
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
    std::this_thread::sleep_for(300ms);
    CHECK_NOTHROW(graph.update(0, f.scale_add, one, data.data(), 0u, 9u, 1u));
    CHECK_NOTHROW(graph.update(0, f.scale_add, one, data.data(), 0u, 9u, 1u));
}
