// Calls of one stream by several threads: host functions among them, and operations that consist of several.
#include <atomic>
#include <climits>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/graph_builder.hpp"
#include "hsadrv/stream/cooperative_stream.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

std::string text_of(const std::exception_ptr& error) {
    try {
        if (error) std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
        return thrown.what();
    }
    return "";
}

/// For host functions: they must not wait for those that wait for them.
constexpr auto briefly = 10s;

/// What a function threw, as text.
template <class Function>
std::string thrown_by(Function&& function) {
    try {
        function();
    } catch (...) {
        return text_of(std::current_exception());
    }
    return "";
}

/// A stream on which a call of this thread waits for a host function.
struct Waited : Kernels {
    enum class For { room, arguments, pageable_copy, pageable_fill, pageable_rect };

    std::uint32_t packets = gpu.queue_min_packets();
    Stream stream{gpu, {.packets = packets, .kernarg_bytes = 64u << 10, .exclusive_queue = true}}, other{gpu};
    Words data{8};
    std::vector<std::uint8_t> pageable = std::vector<std::uint8_t>(9u << 20);
    Allocation device = Allocation::from_pool(device_pool(gpu), pageable.size());
    std::atomic<bool> waits{false};

    /// `function` runs while the other call waits; its own stream's, or another's that the stream waits for.
    template <class Function>
    void call(bool own, Function&& function) {
        Stream& calls = own ? stream : other;
        calls.call([this, function] {
            for (const Deadline deadline(patience); !waits && !deadline.passed();) std::this_thread::sleep_for(1ms);
            function();
        });
        if (!own) stream.wait(other.record());
    }
    void wait(For what) {
        std::thread soon([this] {
            let_time_pass();
            waits = true;
        });
        const std::string thrown = thrown_by([&] { wait_now(what); });
        soon.join();
        CHECK(thrown == "");
    }

  private:
    void wait_now(For what) {
        switch (what) {
            case For::room:
                for (std::uint32_t i = 0; i < 2 * packets; ++i) stream.submit(barrier_and({}), patience);
                return;
            case For::arguments:
                for (std::uint32_t i = 0; i < 4; ++i)
                    stream.dispatch(
                        {.grid = {1, 1, 1},
                         .workgroup = {1, 1, 1},
                         .kernel_object = store_at.kernel_object(),
                         .kernarg_bytes = 24u << 10},
                        [&](std::byte* to) { arguments_for_store(to); }, patience);
                return;
            case For::pageable_copy:
                return stream.copy_async(pageable.data(), device.data(), pageable.size(), patience);
            case For::pageable_fill:
                return stream.fill_async(pageable.data(), std::uint8_t{7}, pageable.size(), patience);
            case For::pageable_rect:
                return stream.copy_rect_async({.destination = {pageable.data(), 4096, 0},
                                               .source = {device.data(), 4096, 0},
                                               .width_bytes = 1000,
                                               .height = 2000},
                                              patience);
        }
    }
    void arguments_for_store(std::byte* to) const {
        std::uint32_t* const address = data.data() + 7;
        const std::uint32_t value = 9;
        std::memcpy(to, &address, sizeof address);
        std::memcpy(to + 8, &value, sizeof value);
    }
};

constexpr Waited::For everything_waited_for[] = {Waited::For::room, Waited::For::arguments, Waited::For::pageable_copy,
                                                 Waited::For::pageable_fill, Waited::For::pageable_rect};

}  // namespace

TEST_CASE("a host function uses a stream while another thread waits in a call of it", "[stream][host][deadline]") {
    NEEDS_DEVICE();
    for (const bool own : {true, false}) {
        for (const Waited::For what : everything_waited_for) {
            CAPTURE(own, static_cast<int>(what));
            Waited f;
            std::string thrown;
            std::optional<Event> event;
            f.call(own, [&] {
                thrown = thrown_by([&] {
                    static_cast<void>(f.stream.query());
                    f.store_at.launch(f.stream, {.grid = 1, .workgroup = 1, .deadline = briefly},
                                      reinterpret_cast<std::uint64_t>(f.data.data()), 5u);
                    event = f.stream.record({}, briefly);
                    f.stream.wait(f.other.record({}, briefly), briefly);
                    f.stream.copy_async(f.data.data() + 1, f.data.data() + 2, 4, briefly);
                    f.stream.fill_async(f.device.as<std::uint8_t>(), std::uint8_t{3}, 4, briefly);
                    static_cast<void>(f.stream.progress());
                });
            });
            f.wait(what);
            CHECK(thrown == "");
            CHECK_NOTHROW(f.stream.synchronize(patience));
            REQUIRE(event);
            CHECK(event->query());
            CHECK(f.data.get() == 5);
        }
    }
}

TEST_CASE("what a host function copies through a stream, and what another thread does there meanwhile, are both right",
          "[stream][host][copy]") {
    NEEDS_DEVICE();
    Waited f;
    const std::vector<std::uint8_t> first = pattern(f.pageable.size(), 3);
    const std::size_t half = 5u << 20;
    std::vector<std::uint8_t> more = pattern(half, 4);
    const Allocation target = Allocation::from_pool(device_pool(f.gpu), half);
    f.stream.copy_async(f.device.data(), first.data(), first.size());
    std::string thrown;
    f.call(true, [&] { thrown = thrown_by([&] { f.stream.copy_async(target.data(), more.data(), half, briefly); }); });
    f.wait(Waited::For::pageable_copy);
    CHECK(thrown == "");
    CHECK((f.pageable == first));
    std::vector<std::uint8_t> back(half);
    f.stream.copy_async(back.data(), target.data(), half, patience);
    CHECK((back == more));
}

TEST_CASE("close() keeps its deadline while a host function runs", "[stream][host][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    auto stream = std::make_unique<Stream>(device.gpu);
    std::atomic<bool> go_on{false}, begun{false}, done{false};
    stream->call([&] {
        begun = true;
        for (const Deadline deadline(patience); !go_on && !deadline.passed();) std::this_thread::sleep_for(1ms);
        done = true;
    });
    REQUIRE(eventually([&] { return begun.load(); }));
    const auto begin = Deadline::Clock::now();
    CHECK_FALSE(stream->close(100ms));
    CHECK(Deadline::Clock::now() - begin < 2s);
    CHECK_FALSE(done);
    go_on = true;
    CHECK(eventually([&] { return done.load(); }));
}

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

namespace {

/// A stream without room, until the flag is set.
struct Full : Kernels {
    Words flag{1}, data{1024};
    Stream stream, other{gpu};
    explicit Full(int launches = INT_MAX, std::size_t kernarg_bytes = StreamOptions().kernarg_bytes)
        : stream(gpu, {.packets = gpu.queue_min_packets(), .kernarg_bytes = kernarg_bytes, .exclusive_queue = true}) {
        spin.launch(stream, one, flag.data());
        thrown_by([&] {
            for (int i = 0; i < launches; ++i)
                scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = 50ms}, data.data() + 1000, 1u, 1u, 1u);
        });
    }
    void launch(Stream& on, std::size_t word, std::uint32_t factor, std::uint32_t addend) {
        scale_add.launch(on, {.grid = 1, .workgroup = 1, .deadline = patience}, data.data() + word, factor, addend, 1u);
    }
};

}  // namespace

TEST_CASE("arguments that a host function could not place at first are those of its kernels", "[stream][host]") {
    NEEDS_DEVICE();
    Full f(15, 4096);  // no room for arguments, but for packets
    constexpr std::uint32_t count = 100;
    std::string thrown;
    std::atomic<bool> done{false};
    const Words second(1);
    f.other.call([&] {
        thrown = thrown_by([&] {
            f.spin.launch(f.stream, one, second.data());
            for (std::uint32_t i = 0; i < count; ++i) f.launch(f.stream, i, 0, 100 + i);
        });
        done = true;
    });
    let_time_pass();  // it waits for a packet's room
    f.flag.set(1);
    CHECK(eventually([&] { return done || f.stream.progress().submitted > 60; }));
    let_time_pass();
    second.set(1);
    CHECK(eventually([&] { return done.load(); }));
    CHECK_NOTHROW(f.stream.synchronize(patience));
    CHECK(thrown == "");
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) wrong += f.data.get(i) != 100 + i;
    CHECK(wrong == 0);
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

TEST_CASE("a launch that waits keeps its graph's arguments, however often the graph is updated", "[stream][graph]") {
    NEEDS_DEVICE();
    Full f;
    GraphBuilder build(f.gpu);
    build.kernel({}, f.scale_add, one, f.data.data(), 0u, 1u, 1u);
    Graph graph = build.finish();
    std::thread launches([&] { graph.launch(f.stream, patience); });
    let_time_pass();
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

TEST_CASE("threads that submit to a stream without room take turns", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
    const Words data(2);
    GraphBuilder build(f.gpu);
    const GraphNode first = build.kernel({}, f.scale_add, one, data.data(), 1u, 1u, 1u);
    build.kernel({build.call({first}, [] {})}, f.scale_add, one, data.data(), 1u, 1u, 1u);
    const Graph graph = build.finish();
    std::atomic<bool> over{false};
    std::thread replays([&] {
        while (!over) graph.launch(stream, patience);
    });
    for (int i = 0; i < 100; ++i)
        CHECK_NOTHROW(
            f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = briefly}, data.data() + 1, 1u, 1u, 1u));
    over = true;
    replays.join();
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(data.get(1) == 100);
}

TEST_CASE("close() ends a call of its stream that waits", "[stream][host][deadline]") {
    NEEDS_DEVICE();
    Full f;
    std::string thrown;
    std::atomic<bool> done{false};
    f.other.call([&, &core = f.stream.core()] {
        const Packet packet = barrier_and({});
        thrown = thrown_by([&] {
            for (;;) core.submit({&packet, 1}, patience);  // past the room that is kept for host functions
        });
        done = true;
    });
    let_time_pass();
    const auto begin = Deadline::Clock::now();
    CHECK_FALSE(f.stream.close(100ms));
    CHECK(Deadline::Clock::now() - begin < patience / 6);
    CHECK(eventually([&] { return done.load(); }));
    CHECK(thrown != "");
}
