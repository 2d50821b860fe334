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
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// A launch of a graph that is lost: of `data` = 7, on a stream that is closed.
struct LostLaunch : Busy {
    Stream records{gpu};
    Graph graph;
    LostLaunch() {
        records.begin_capture();
        scale_add.launch(records, one, data.data(), 0u, 7u, 1u);
        graph = records.end_capture();
        graph.launch(after);
        CHECK_FALSE(after.close(20ms));
    }
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

TEST_CASE("query() and captures do not wait as long as another thread's call", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(2);
    std::vector<std::uint8_t> pageable(16);
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
    const bool for_room = GENERATE(false, true);
    f.spin.launch(stream, one, flag.data());
    std::atomic<bool> returned{false};
    std::thread other([&] {
        try {
            if (!for_room) stream.copy_async(pageable.data(), data.data(), 8, patience);
            for (std::uint32_t i = 0; for_room && i < 2 * f.gpu.queue_min_packets(); ++i)
                stream.submit(barrier_and({}), patience);
        } catch (const Error&) {
        }
        returned = true;
    });
    std::this_thread::sleep_for(100ms);
    const auto begin = Deadline::Clock::now();
    CHECK_FALSE(stream.query());
    stream.begin_capture();
    CHECK(stream.capturing());
    CHECK(stream.end_capture().nodes() == 0);
    CHECK_FALSE(stream.query());
    CHECK(Deadline::Clock::now() - begin < patience / 2);
    CHECK_FALSE(returned);
    flag.set(1);
    other.join();
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(stream.query());
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
    LostLaunch f;
    for (std::uint32_t i = 1; i < 4; ++i)
        CHECK_NOTHROW(f.graph.update(0, f.scale_add, one, f.data.data() + i, 0u, 8u, 1u));
    f.scale_add.launch(f.runs, one, f.data.data() + 2, 0u, 1u, 1u);  // after the lost one's packet
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(is_written_or_stopped(f.data, 7));  // by the packet that was in the ring
    CHECK(f.data.get(3) == 0);
    f.graph.launch(f.records);
    CHECK_NOTHROW(f.records.synchronize(patience));
    CHECK(f.data.get(1) == 0);
    CHECK(f.data.get(3) == 8);
}

TEST_CASE("a graph of which a launch is lost does not grow with each update", "[graph][error]") {
    NEEDS_DEVICE();
    LostLaunch f;
    const std::size_t before = live_allocations().size();
    for (std::uint32_t i = 0; i < 2000; ++i) f.graph.update(0, f.scale_add, one, f.data.data() + 1, 0u, i, 1u);
    CHECK(live_allocations().size() == before);
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    f.graph.launch(f.records);
    CHECK_NOTHROW(f.records.synchronize(patience));
    CHECK(f.data.get(1) == 1999);
}

namespace {

/// A stream whose queue another one's packet stops, and no third one's stream keeps.
struct Moving : Busy {
    std::weak_ptr<detail::SharedQueue> old = after.core().shared_queue();
    Words last{1};
    int fills = 0;
    Moving() {
        for (Stream& stream : streams)
            if (&stream != &runs && &stream != &after) stream.close();
        break_queue(runs);  // once its kernel has ended
    }
    /// Until `last` is set.
    void launch() {
        after.dispatch({.grid = {1, 1, 1},
                        .workgroup = {1, 1, 1},
                        .kernel_object = spin.kernel_object(),
                        .kernarg_bytes = sizeof(void*),
                        .names_queue = true},
                       [&](std::byte* kernarg) {
                           const std::uint32_t* const argument = last.data();
                           std::memcpy(kernarg, &argument, sizeof argument);
                           ++fills;
                       });
    }
    void stop_queue(std::thread* launches = nullptr) {
        flag.set(1);
        if (launches) launches->join();
        CHECK_THROWS_AS(runs.synchronize(patience), QueueError);
        runs.close();
        CHECK_THROWS_AS(after.synchronize(200ms), Timeout);  // releases what is over
        static_cast<void>(after.query());
        CHECK(after.core().shared_queue() != old.lock());
    }
};

}  // namespace

TEST_CASE("a queue that a kernel's arguments name is kept until its kernel is complete", "[stream][pool]") {
    NEEDS_DEVICE();
    Moving f;
    f.launch();
    f.stop_queue();
    CHECK_FALSE(f.old.expired());
    f.last.set(1);
    CHECK_NOTHROW(f.after.synchronize(patience));
}

TEST_CASE("arguments name the queue on which their kernel runs, although the stream moves while they wait for room",
          "[stream][pool]") {
    NEEDS_DEVICE();
    Moving f;
    while (f.after.progress().submitted < StreamOptions().packets) f.after.submit(std::array{barrier_and({})});
    std::thread launches([&] { f.launch(); });
    std::this_thread::sleep_for(100ms);
    f.stop_queue(&launches);
    CHECK(f.fills == 2);
    f.last.set(1);
    CHECK_NOTHROW(f.after.synchronize(patience));
    CHECK(f.old.expired());
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

TEST_CASE("a refused update of a graph leaves the arguments of a lost launch to its packets", "[graph][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    const DispatchSpec spec{
        .grid = {1, 1, 1}, .workgroup = {1, 1, 1}, .kernel_object = f.scale_add.kernel_object(), .kernarg_bytes = 64};
    DispatchSpec too_large = spec;
    too_large.kernarg_bytes = std::size_t{1} << 50;
    detail::GraphState graph(f.gpu);
    std::byte* const first = graph.begin_kernel(spec);
    graph.commit_kernel(spec, first, {});
    graph.finish();
    const auto timeline = std::make_shared<detail::Timeline>("a test", 64);
    detail::GraphState::Leftovers leftovers;
    const auto launch = graph.begin_launch({&timeline, 1}, leftovers);
    timeline->submit(0);
    graph.end_launch(*launch, leftovers);
    timeline->fail(std::make_exception_ptr(Error("on purpose")), 0);
    static_cast<void>(graph.begin_update(0, spec, {}));
    graph.commit_update(0);
    CHECK_THROWS_AS(graph.begin_update(0, too_large, {}), OutOfMemory);
    CHECK(graph.begin_update(0, spec, {}) != first);
}

TEST_CASE("a graph launch that is cut short keeps the stream and drops the graph", "[graph][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu);
    detail::StreamCore& core = stream.core();
    const auto graph = std::make_shared<detail::GraphState>(device.gpu);
    graph->add([&](detail::StreamCore&, Deadline) { throw Error("cut short on purpose"); }, {});
    graph->finish();
    CHECK_THROWS_WITH(core.replay(graph, 1s), Contains("cut short on purpose"));
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(graph.use_count() == 1);
}
