// Streams that are closed while other threads' calls of them wait.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "hsadrv/graph_builder.hpp"
#include "stream_fixture.hpp"

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
