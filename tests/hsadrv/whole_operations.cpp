// Operations that consist of several: another thread's calls of the stream come before or after all of their parts.
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>

#include "hsadrv/graph_builder.hpp"
#include "hsadrv/stream/cooperative_stream.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "shared/grid_state.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

/// A replay that sets two words, with a pause between them while it is enqueued.
struct PausedReplay : Device {
    Stream stream{gpu};
    Words data{2};
    std::atomic<bool> middle{false};

    /// `meanwhile` begins in the pause, on another thread.
    template <class Meanwhile>
    void run(Meanwhile&& meanwhile) {
        const auto graph = std::make_shared<detail::GraphState>(gpu);
        const auto set = [this](std::size_t i) {
            return [this, i](detail::StreamCore& core, Deadline deadline) {
                core.call([this, i](SignalRef) { return data.set(1, i), detail::HostEnd::now; }, deadline);
            };
        };
        const std::uint32_t first = graph->add(set(0), {});
        const std::uint32_t waits = graph->add(
            [this](detail::StreamCore&, Deadline) {
                middle = true;
                let_time_pass();
            },
            {first});
        graph->add(set(1), {waits});
        graph->finish();
        std::thread other([&] {
            CHECK(eventually([&] { return middle.load(); }));
            meanwhile();
        });
        stream.core().replay(graph, patience);
        other.join();
    }
};

}  // namespace

TEST_CASE("no other thread's copy sees the middle of a replay", "[stream][graph]") {
    NEEDS_DEVICE();
    PausedReplay f;
    const Words seen(2, 7);
    f.run([&] { f.stream.copy_async(seen.data(), f.data.data(), 8, patience); });
    CHECK_NOTHROW(f.stream.synchronize(patience));
    CHECK(seen.get(0) == seen.get(1));
}

TEST_CASE("no other thread's kernel runs beside a cooperative kernel of its stream", "[stream][cooperative]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Kernel hold = f.code.kernel("begin_and_spin");
    Stream stream(f.gpu);
    const Words flag(1), runs(2);
    std::atomic<bool> middle{false};
    const DispatchSpec spec{
        .grid = {1, 1, 1}, .workgroup = {1, 1, 1}, .kernel_object = hold.kernel_object(), .kernarg_bytes = 16};
    const auto write = [&](std::byte* to, QueueRef, std::uint64_t) {
        const std::uint32_t* const arguments[] = {runs.data(), flag.data()};
        std::memcpy(to, arguments, sizeof arguments);
        middle = true;
        let_time_pass();
    };
    std::thread launches([&] {
        CHECK(eventually([&] { return middle.load(); }));
        hold.launch(stream, {.grid = 1, .workgroup = 1, .deadline = patience}, runs.data() + 1, flag.data());
    });
    detail::StreamCore& core = stream.core();
    core.branches().cooperative(core).launch(core, spec, {1, 1}, write, patience);
    launches.join();
    CHECK(eventually([&] { return runs.get(0) + runs.get(1) > 0; }));
    let_time_pass();
    CHECK(runs.get(0) + runs.get(1) == 1);
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(runs.get(0) + runs.get(1) == 2);
}

TEST_CASE("a cooperative launch that waits keeps its size while a host function's goes between",
          "[stream][cooperative][host]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Executable grid = Executable::load(f.gpu, test_support::test_file("grid." + f.gpu.name() + ".hsaco"));
    const Kernel state = grid.kernel("state");  // copies its GridState
    constexpr std::uint32_t words = sizeof(shared::GridState) / 4, most = 400;
    constexpr std::uint32_t workgroups = offsetof(shared::GridState, workgroups) / 4;
    Stream stream(f.gpu), other(f.gpu);
    const Words flag(1), theirs(words * most), own(words);
    const auto launch = [&](std::uint32_t count, std::uint32_t* to) {
        state.launch(stream, {.grid = 64 * count, .workgroup = 64, .deadline = patience, .cooperative = true}, to);
    };
    f.spin.launch(stream, one, flag.data());
    std::atomic<std::uint32_t> launched{0};
    std::thread launches([&] {
        thrown_by([&] {
            for (; launched < most && flag.get() == 0; ++launched) launch(4, theirs.data() + words * launched);
        });
    });
    CHECK(eventually([&, last = std::uint32_t{0}]() mutable {  // it waits for room
        let_time_pass();
        return std::exchange(last, launched.load()) == launched;
    }));
    std::string thrown;
    std::atomic<bool> done{false};
    other.call([&] {
        thrown = thrown_by([&] { launch(2, own.data()); });
        done = true;
    });
    CHECK(eventually([&] { return done.load(); }));
    CHECK(thrown == "");
    flag.set(1);
    launches.join();
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(own.get(workgroups) == 2);
    for (std::uint32_t i = 0; i < launched; ++i) REQUIRE(theirs.get(words * i + workgroups) == 4);
}

TEST_CASE("a launch that waits as a capture begins hides no later one from it", "[stream][graph]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.kernarg_bytes = 64u << 10});
    const Words flag(1), open(1, 1), data(4);
    const auto spin = [&](const Words& until) {
        const DispatchSpec spec{.grid = {1, 1, 1},
                                .workgroup = {1, 1, 1},
                                .kernel_object = f.spin.kernel_object(),
                                .kernarg_bytes = 40u << 10};
        const std::uint32_t* const address = until.data();
        stream.dispatch(spec, [&](std::byte* to) { std::memcpy(to, &address, sizeof address); }, patience);
    };
    spin(flag);
    std::thread waits([&] { spin(open); });  // for room for its arguments
    CHECK(another_waits(stream));
    stream.begin_capture();
    flag.set(1);
    waits.join();
    for (int i = 0; i < 5; ++i) f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
    const Graph graph = stream.end_capture();
    CHECK(graph.kernels() == 5);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(data.get() == 0);
}

TEST_CASE("a replay for which there is no room loses no work", "[stream][graph][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const std::uint32_t packets = f.gpu.queue_min_packets();
    Stream stream(f.gpu, {.packets = packets, .exclusive_queue = true});
    const Words flag(1), data(4);
    GraphBuilder build(f.gpu);
    const GraphNode first = build.kernel({}, f.scale_add, one, data.data(), 1u, 1u, 1u);
    const GraphNode left = build.kernel({first}, f.scale_add, one, data.data() + 1, 1u, 1u, 1u);
    const GraphNode right = build.kernel({first}, f.scale_add, one, data.data() + 2, 1u, 1u, 1u);
    build.kernel({left, right}, f.scale_add, one, data.data() + 3, 1u, 1u, 1u);
    const Graph graph = build.finish();
    f.spin.launch(stream, one, flag.data());
    std::uint32_t launched = 0;
    // Whatever is left of the room, down to none.
    CHECK_THROWS_AS(
        [&] {
            for (;; ++launched) graph.launch(stream, 20ms);
        }(),
        Timeout);
    for (int i = 0; i < 100; ++i) CHECK_THROWS_AS(graph.launch(stream, Deadline(0s)), Timeout);
    CHECK_FALSE(stream.failed());
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(data.get(0) >= launched);
    CHECK(data.get(3) >= launched);
    CHECK_NOTHROW(graph.launch(stream));
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("a host function's replay is whole, too", "[stream][graph][host]") {
    NEEDS_DEVICE();
    Full f;
    f.data.set(1);
    const auto graph = std::make_shared<detail::GraphState>(f.gpu);
    const auto step = [&](std::uint32_t factor) {
        return [&f, factor](detail::StreamCore& core, Deadline deadline) {
            core.call([&f, factor](SignalRef) { return f.data.set(f.data.get() * factor + 1), detail::HostEnd::now; },
                      deadline);
        };
    };
    const std::uint32_t first = graph->add(step(2), {});
    const std::uint32_t middle = graph->add(
        [&](detail::StreamCore&, Deadline) {
            f.flag.set(1);  // the call that this one passes finds room
            let_time_pass();
        },
        {first});
    graph->add(step(3), {middle});
    graph->finish();
    std::thread launches([&] { f.launch(f.stream, 0, 10, 0); });
    let_time_pass();
    std::atomic<bool> done{false};
    std::string thrown;
    f.other.on_complete([&](const std::exception_ptr&) {
        thrown = thrown_by([&] { f.stream.core().replay(graph, patience); });
        done = true;
    });
    launches.join();
    CHECK(eventually([&] { return done.load(); }));
    CHECK_NOTHROW(f.stream.synchronize(patience));
    CHECK(thrown == "");
    CHECK((f.data.get() == 100 || f.data.get() == 34));  // before the launch or after it, and not around it
}

TEST_CASE("a host function passes a replay whose branch has no room", "[stream][graph][host]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(8);
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets()});
    GraphBuilder build(f.gpu);
    const GraphNode first = build.kernel({}, f.scale_add, one, data.data() + 1, 1u, 1u, 1u);
    const GraphNode left = build.kernel({first}, f.scale_add, one, data.data() + 2, 1u, 1u, 1u);
    GraphNode right = first;
    for (int i = 0; i < 250; ++i) right = build.kernel({right}, f.scale_add, one, data.data() + 3, 1u, 1u, 1u);
    build.kernel({left, right}, f.scale_add, one, data.data() + 4, 1u, 1u, 1u);
    const Graph graph = build.finish();
    std::atomic<bool> waits{false};
    std::string thrown;
    stream.call([&] {
        for (const Deadline deadline(patience); !waits && !deadline.passed();) std::this_thread::sleep_for(1ms);
        thrown = thrown_by([&] {
            f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = briefly}, data.data(), 1u, 5u, 1u);
        });
    });
    std::thread soon([&] {
        let_time_pass();
        let_time_pass();
        waits = true;
    });
    constexpr std::uint32_t replays = 40;  // more than the branch's ring holds
    for (std::uint32_t i = 0; i < replays; ++i) CHECK_NOTHROW(graph.launch(stream, patience));
    soon.join();
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(thrown == "");
    CHECK(data.get(0) == 5);
    CHECK(data.get(4) == replays);
}

TEST_CASE("a capture that begins during another thread's replay records nothing of it", "[stream][graph]") {
    NEEDS_DEVICE();
    PausedReplay f;
    f.run([&] { f.stream.begin_capture(); });
    CHECK(f.stream.end_capture().nodes() == 0);
    CHECK_NOTHROW(f.stream.synchronize(patience));
    CHECK((f.data.get(0) == 1 && f.data.get(1) == 1));
}

TEST_CASE("an update waits for the graph's own launches, not for a stream that refused one", "[stream][graph]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(2);
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
    stream.begin_capture();
    f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
    Graph graph = stream.end_capture();
    const auto update = [&] {
        return thrown_by([&] {
            graph.update(0, f.scale_add, {.grid = 1, .workgroup = 1, .deadline = 2s}, data.data(), 1u, 1u, 1u);
        });
    };
    f.spin.launch(stream, one, flag.data());
    static_cast<void>(thrown_by([&] {
        for (;;) stream.submit(barrier_and({}), 10ms);
    }));
    std::thread waits([&] { static_cast<void>(thrown_by([&] { stream.submit(barrier_and({}), patience); })); });
    let_time_pass();
    CHECK_THROWS_AS(graph.launch(stream, 50ms), Timeout);
    CHECK(update().empty());
    CHECK(update().empty());
    flag.set(1);
    waits.join();
    stream.synchronize(patience);
    CHECK(data.get() == 0);

    // What a launch lets go of may add work.
    flag.set(0);
    const auto adds_work = [&](void*) { f.spin.launch(stream, one, flag.data()); };
    const Signal open = Signal::create(1);
    stream.wait(open, Condition::less, 1);
    stream.keep_alive(std::shared_ptr<void>(nullptr, adds_work));
    open.store(0);
    CHECK(eventually([&] { return stream.progress().completed == stream.progress().submitted; }));
    graph.launch(stream);
    CHECK(eventually([&] { return data.get() == 1; }));
    CHECK(update().empty());
    CHECK(update().empty());
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("a launch that waits keeps its graph's arguments, however often the graph is updated", "[stream][graph]") {
    NEEDS_DEVICE();
    Full f;
    GraphBuilder build(f.gpu);
    build.kernel({}, f.scale_add, one, f.data.data(), 0u, 1u, 1u);
    Graph graph = build.finish();
    std::thread launches([&] { graph.launch(f.stream, patience); });
    CHECK(another_waits(f.stream));
    for (std::uint32_t i = 2; i < 5; ++i)
        CHECK_NOTHROW(
            graph.update(0, f.scale_add, {.grid = 1, .workgroup = 1, .deadline = briefly}, f.data.data(), 0u, i, 1u));
    f.flag.set(1);
    launches.join();
    CHECK_NOTHROW(f.stream.synchronize(patience));
    CHECK(f.data.get() == 1);
    graph.launch(f.stream);
    CHECK_NOTHROW(f.stream.synchronize(patience));
    CHECK(f.data.get() == 4);
}
