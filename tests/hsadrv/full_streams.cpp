// The room that is kept in full streams: for host functions, for what joins enqueued work, for the longest batch.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/graph_builder.hpp"
#include "hsadrv/stream/queue_pool.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

/// Streams of one queue that are full of packets behind a wait.
struct FullQueue : Kernels {
    StreamOptions large{.packets = 2048, .kernarg_bytes = 2u << 20};
    Signal open = Signal::create(0);
    Words data{2};
    std::vector<Stream> streams;
    std::vector<Stream*> full;

    explicit FullQueue(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) streams.emplace_back(gpu, large);
        full = neighbours_of_first(streams);
        full.push_back(&streams.front());
        for (Stream* stream : full) stream->wait(open, Condition::not_equal, 0);
        for (Stream* stream : full) {
            thrown_by([&] {
                for (;;) launch(*stream, data.data(), 1, 20ms);
            });
        }
    }
    /// What a host function throws that launches so many kernels on each, and then ends the wait.
    std::string launched_by_host(int count) {
        Stream other(gpu, {.exclusive_queue = true});
        std::string thrown;
        other.call([&] {
            thrown = thrown_by([&] {
                for (Stream* stream : full)
                    for (int i = 0; i < count; ++i) launch(*stream, data.data() + 1, 0, briefly);
            });
            open.store(1);
        });
        CHECK_NOTHROW(other.synchronize(patience));
        return thrown;
    }

  private:
    void launch(Stream& stream, std::uint32_t* to, std::uint32_t add, Deadline deadline) {
        scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = deadline}, to, 1u, add, 1u);
    }
};

}  // namespace

TEST_CASE("a host function that fills a stream leaves room for another thread's cooperative launch",
          "[stream][cooperative][host][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Executable grid = Executable::load(f.gpu, test_support::test_file("grid." + f.gpu.name() + ".hsaco"));
    const Kernel state = grid.kernel("state"), work = f.code.kernel("work_then_ticket");
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets(), .exclusive_queue = true}), other(f.gpu);
    const Words out(16), tickets(2);
    std::atomic<bool> over{false};
    std::string host_thrown;
    std::thread calls([&] {
        while (!over) {
            other.call([&] {
                host_thrown += thrown_by([&] {
                    try {
                        for (int i = 0; i < 140 && !over; ++i)
                            work.launch(stream, {.grid = 1, .workgroup = 1, .deadline = 100us}, tickets.data(),
                                        tickets.data() + 1, 3000u);
                    } catch (const Timeout&) {  // it is full
                    }
                });
            });
            CHECK_NOTHROW(other.synchronize(patience));
            // Host functions go first: without a pause the other thread may never have room.
            for (const Deadline pause(100ms); !over && !pause.passed() && !stream.query();)
                std::this_thread::sleep_for(1ms);
        }
    });
    const auto until = Deadline::Clock::now() + 2s;
    std::string thrown;
    while (thrown.empty() && Deadline::Clock::now() < until)
        thrown =
            thrown_by([&] { state.launch(stream, {.grid = 64, .workgroup = 64, .cooperative = true}, out.data()); });
    over = true;
    calls.join();
    CHECK(thrown == "");
    CHECK(host_thrown == "");
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("the longest batch has room on a queue of many streams", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Device f;
    std::vector<Stream> streams;  // of one kind: its queues are few
    for (std::size_t i = 0; i < 80 * detail::QueuePool::most_special; ++i)
        streams.emplace_back(f.gpu, StreamOptions{.kernarg_bytes = 4096, .priority = QueuePriority::high});
    Stream& first = streams.front();
    std::vector<Packet> packets(first.queue().size() / 2, barrier_and({}));
    CHECK_NOTHROW(first.submit(packets, briefly));
    CHECK_NOTHROW(first.synchronize(patience));
    packets.push_back(barrier_and({}));
    CHECK_THROWS_AS(first.submit(packets, briefly), InvalidArgument);
}

TEST_CASE("full streams of one queue each have room for host functions", "[stream][host]") {
    NEEDS_DEVICE();
    FullQueue f(4 * detail::QueuePool::most);
    REQUIRE(f.full.size() >= 3);
    CHECK(f.launched_by_host(20) == "");
    for (Stream* stream : f.full) CHECK_NOTHROW(stream->synchronize(patience));
}

TEST_CASE("a new stream leaves the room for host functions to those that have filled their queues", "[stream][host]") {
    NEEDS_DEVICE();
    FullQueue f(detail::QueuePool::most + 1);
    REQUIRE(f.full.size() == 2);
    std::vector<Stream> more;  // which would share the queue
    for (std::size_t i = 0; i < 2 * detail::QueuePool::most; ++i) more.emplace_back(f.gpu, f.large);
    CHECK(f.launched_by_host(31) == "");
    for (Stream* stream : f.full) CHECK_NOTHROW(stream->synchronize(patience));
}

TEST_CASE("a host function launches cooperatively, and a graph of branches, on a full ring",
          "[stream][graph][host][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const bool cooperative = GENERATE(false, true);
    Stream stream(f.gpu, {.packets = 1024, .exclusive_queue = true});
    const Words data(4);
    GraphBuilder build(f.gpu);
    for (unsigned i = 0; i < 2; ++i) build.kernel({}, f.scale_add, one, data.data() + i, 1u, 1u, 1u);
    const Graph graph = build.finish();
    std::atomic<bool> runs{false}, full{false};
    std::string thrown;
    stream.call([&] {
        runs = true;
        CHECK(eventually([&] { return full.load(); }));
        thrown = thrown_by([&] {
            if (cooperative)
                f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = briefly, .cooperative = true},
                                   data.data(), 1u, 1u, 1u);
            else
                graph.launch(stream, briefly);
        });
    });
    CHECK(eventually([&] { return runs.load(); }));
    thrown_by([&] {  // the ring is full before the count of packets in flight is
        for (;;) stream.submit(std::vector<Packet>(40, barrier_and({}, hsa_signal_t{0})), 20ms);
    });
    thrown_by([&] {
        for (;;) f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = 20ms}, data.data() + 2, 1u, 1u, 1u);
    });
    full = true;
    CHECK_NOTHROW(stream.synchronize(patience));  // the host function
    CHECK_NOTHROW(stream.synchronize(patience));  // what it launched
    CHECK(thrown.empty());
    CHECK(data.get() == 1);
}
