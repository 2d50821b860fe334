// Calls of one stream by several threads, host functions among them.
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/graph_builder.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

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

TEST_CASE("callbacks of two threads that pass a call that waits end in any order", "[stream][host]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal at_once = Signal::create(0);
    for (const bool lower_first : {true, false}) {
        CAPTURE(lower_first);
        detail::LaneMutex mutex;
        detail::CallOrder order(mutex);
        std::atomic<int> waiting{0};
        std::atomic<bool> below{false}, lower{false}, upper{false}, ended[2]{};
        const auto wait = [&](const std::atomic<bool>& until) {
            const auto held = order.lock(patience);
            bool late = false;
            const detail::CallOrder::Away away(order, patience, late);
            ++waiting;
            while (!until) std::this_thread::yield();
        };
        std::thread passed([&] { wait(below); });
        CHECK(eventually([&] { return waiting == 1; }));
        SignalCallbacks first("first"), second("second");
        first.on_signal(at_once, Condition::equal, 0, [&] { wait(lower), ended[0] = true; });
        CHECK(eventually([&] { return waiting == 2; }));
        second.on_signal(at_once, Condition::equal, 0, [&] { wait(upper), ended[1] = true; });
        CHECK(eventually([&] { return waiting == 3; }));
        (lower_first ? lower : upper) = true;
        CHECK(eventually([&] { return ended[lower_first ? 0 : 1].load(); }));
        lower = upper = below = true;
        passed.join();
        CHECK(eventually([&] { return ended[0] && ended[1]; }));
        CHECK(order.lock(patience).owns_lock());
    }
}
