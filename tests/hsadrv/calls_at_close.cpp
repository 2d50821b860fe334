// Streams that are closed while other threads' calls of them wait.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/graph_builder.hpp"
#include "tests/hsadrv/stream_fixture.hpp"
#include "tests/support/sanitizer.hpp"

using namespace hsadrv;
using namespace device_test;

TEST_CASE("close() ends a replay whose branch has no room", "[stream][graph][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(2);
    GraphBuilder build(f.gpu);
    build.kernel({}, f.scale_add, one, data.data(), 1u, 1u, 1u);
    GraphNode node = build.kernel({}, f.spin, one, flag.data());  // waits for nothing of the stream
    for (int i = 0; i < 300; ++i) {
        node = build.call({node}, [] {});
        node = build.kernel({node}, f.scale_add, one, data.data() + 1, 1u, 1u, 1u);
    }
    const Graph graph = build.finish();
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets()});
    std::string thrown;
    std::atomic<bool> over{false};
    std::thread replays([&] {
        thrown = thrown_by([&] { graph.launch(stream, patience); });
        over = true;
    });
    let_time_pass();
    const auto begin = Deadline::Clock::now();
    CHECK_FALSE(stream.close(100ms));
    CHECK(Deadline::Clock::now() - begin < patience / 6);
    CHECK(eventually([&] { return over.load(); }));
    flag.set(1);
    replays.join();
    CHECK(thrown.find("closed") != std::string::npos);
}

TEST_CASE("close() ends a replay that is about to submit to a branch", "[stream][graph][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const bool cooperative = GENERATE(false, true);
    const Words flag(1), data(2);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 1 << 16);
    std::vector<char> pageable(device.size_bytes());
    GraphBuilder build(f.gpu);
    build.kernel({}, f.scale_add, one, data.data(), 1u, 1u, 1u);
    GraphNode node = build.kernel({}, f.spin, {.grid = 1, .workgroup = 1, .cooperative = cooperative}, flag.data());
    build.copy({node}, pageable.data(), device.data(), pageable.size());
    const Graph graph = build.finish();
    for (int round = 0; round < 25; ++round) {
        CAPTURE(round);
        flag.set(0);
        auto stream = std::make_unique<Stream>(f.gpu);
        std::atomic<bool> over{false}, closed{false};
        std::thread replays([&, &stream = *stream] {
            static_cast<void>(thrown_by([&] { graph.launch(stream); }));
            over = true;
        });
        // No call may begin beside close(): this one has when its first kernel is submitted.
        while (!over && stream->progress().submitted == 0) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(30 + 397 * round % 9000));
        std::thread closes([&] {
            stream->close(1ms);
            closed = true;
        });
        CHECK(eventually([&] { return closed.load(); }));
        flag.set(1);
        closes.join();
        replays.join();
    }
}

TEST_CASE("close() waits for a first cooperative launch, which makes a stream", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(2);
    for (int round = 0; round < 40; ++round) {
        auto stream = std::make_unique<Stream>(f.gpu);
        std::atomic<bool> begins{false};
        std::thread launches([&, &stream = *stream] {
            begins = true;
            static_cast<void>(thrown_by([&] {
                f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .cooperative = true}, data.data(), 1u, 1u, 1u);
            }));
        });
        while (!begins) std::this_thread::yield();
        // The call has begun by then, and is somewhere in making the stream.
        std::this_thread::sleep_for(std::chrono::microseconds((300 + 97 * round) * (test_support::sanitizer ? 10 : 1)));
        stream->close(0ms);
        launches.join();
    }
    Stream stream(f.gpu);
    f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("a host function closes a stream in which another thread's call waits", "[stream][host]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream other(f.gpu);
    for (int round = 0; round < 5; ++round) {
        auto stream = std::make_unique<Stream>(
            f.gpu, StreamOptions{.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
        const Words flag(1), data(1);
        std::string thrown;
        std::atomic<bool> over{false}, closed{false};
        f.spin.launch(*stream, one, flag.data());
        std::thread launches([&, &stream = *stream] {
            thrown = thrown_by([&] {
                for (;;)
                    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = patience}, data.data(), 1u, 1u,
                                       1u);
            });
            over = true;
        });
        let_time_pass();
        other.call([&] {
            stream->close(0ms);
            closed = true;
        });
        CHECK(eventually([&] { return over && closed; }));
        CHECK(thrown.find("closed") != std::string::npos);
        flag.set(1);
        launches.join();
        CHECK_NOTHROW(other.synchronize(patience));
    }
}

TEST_CASE("a host function closes a stream that another thread synchronizes", "[stream][host]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream other(f.gpu);
    for (int round = 0; round < 5; ++round) {
        auto stream = std::make_unique<Stream>(f.gpu, StreamOptions{.exclusive_queue = true});
        const Words flag(1);
        std::string thrown;
        std::atomic<bool> over{false}, closed{false};
        f.spin.launch(*stream, one, flag.data());
        std::thread waits([&, &stream = *stream] {
            thrown = thrown_by([&] { stream.synchronize(patience); });
            over = true;
        });
        let_time_pass();
        other.call([&] {
            stream->close(0ms);  // which ends when that call has ended
            closed = true;
        });
        CHECK(eventually([&] { return over && closed; }));
        CHECK(thrown.find("closed") != std::string::npos);
        flag.set(1);
        waits.join();
        CHECK_NOTHROW(other.synchronize(patience));
    }
}

TEST_CASE("close() drops a capture although another thread's call waits", "[stream][graph][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    auto stream =
        std::make_unique<Stream>(f.gpu, StreamOptions{.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
    Stream member(f.gpu);
    const Words flag(1), data(2);
    f.spin.launch(*stream, one, flag.data());
    std::thread launches([&, &stream = *stream] {
        thrown_by([&] {
            for (;;) f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
        });
    });
    let_time_pass();
    stream->begin_capture();
    member.wait(stream->record());
    CHECK(member.capturing());
    CHECK_FALSE(stream->close(100ms));
    flag.set(1);
    launches.join();
    CHECK_FALSE(member.capturing());
    f.scale_add.launch(member, one, data.data() + 1, 1u, 1u, 1u);
    CHECK_NOTHROW(member.synchronize(patience));
    CHECK(data.get(1) == 1);
}

TEST_CASE("a capture whose member was closed before it joined is dropped at its end", "[stream][graph]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream origin(f.gpu);
    auto member = std::make_unique<Stream>(f.gpu);
    const Words data(1);
    origin.begin_capture();
    member->wait(origin.record());
    f.scale_add.launch(*member, one, data.data(), 1u, 1u, 1u);
    member.reset();
    CHECK_THROWS_WITH(origin.end_capture(), test_support::Contains("was closed; the capture is dropped"));
    CHECK_FALSE(origin.capturing());
    CHECK_NOTHROW(origin.synchronize(patience));
}
