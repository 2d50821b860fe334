// Many streams on few hardware queues: each stream's order, and failures confined to one stream.
#include <thread>
#include <vector>

#include "hsadrv/stream/queue_pool.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

struct Crowd : Kernels {
    std::vector<Stream> streams = crowd(gpu);
    std::vector<Stream*> neighbours() { return neighbours_of_first(streams); }
};

}  // namespace

TEST_CASE("the first streams have one queue each, later ones share", "[stream][pool]") {
    NEEDS_DEVICE();
    Crowd f;
    for (std::size_t i = 0; i < detail::QueuePool::most; ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK(f.streams[i].queue().native() != f.streams[j].queue().native());
    CHECK(f.neighbours().size() == 1);
    const Stream own(f.gpu, {.exclusive_queue = true});
    for (const Stream& stream : f.streams) CHECK(stream.queue().native() != own.queue().native());
}

TEST_CASE("every stream keeps its order on a shared queue", "[stream][pool]") {
    NEEDS_DEVICE();
    Crowd f;
    const Words data(64 * f.streams.size());
    std::uint32_t expected = 0;
    for (std::uint32_t round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < f.streams.size(); ++i)
            f.scale_add.launch(f.streams[i], {.grid = 64, .workgroup = 64}, data.data() + 64 * i, 3u, round, 64u);
        expected = expected * 3 + round;
    }
    for (Stream& stream : f.streams) stream.synchronize(patience);
    for (std::size_t i = 0; i < f.streams.size(); ++i) CHECK(data.get(64 * i + 63) == expected);
}

TEST_CASE("a stream that stops its queue fails no other stream: their packets move", "[stream][pool][error]") {
    NEEDS_DEVICE();
    Crowd f;
    Stream& bad = f.streams[0];
    Stream& good = *f.neighbours().at(0);
    const Words flag(1), data(64), copy(1);
    f.spin.launch(bad, {.grid = 1, .workgroup = 1}, flag.data());
    break_queue(bad);
    // After the bad packet, on the same queue: kernels, a copy between them, a batch, an event of another stream.
    Stream& upstream = f.streams[1].queue().native() == good.queue().native() ? f.streams[2] : f.streams[1];
    f.scale_add.launch(upstream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 1u, 1u);
    good.wait(upstream.record());
    f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 3u, 1u, 1u);
    good.copy_async(copy.data(), data.data(), 4);
    f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 3u, 2u, 1u);
    const Packet batch[] = {barrier_and({}), barrier_and({}), barrier_and({})};
    good.submit(batch);
    f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 10u, 0u, 1u);
    const Event last = good.record();
    const hsa_queue_t* before = good.queue().native();
    flag.set(1);
    CHECK_THROWS_AS(bad.synchronize(patience), QueueError);
    CHECK_NOTHROW(good.synchronize(patience));
    CHECK(good.queue().native() != before);
    CHECK(copy.get() == 4);
    CHECK(data.get() == 140);
    CHECK(last.query());
    f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 1u, 1u, 1u);
    good.synchronize(patience);
    CHECK(data.get() == 141);
}

TEST_CASE("waiters on other queues for a stream of a failed queue are served, too", "[stream][pool][error]") {
    NEEDS_DEVICE();
    Crowd f;
    Stream& bad = f.streams[0];
    Stream& good = *f.neighbours().at(0);
    Stream other(f.gpu, {.exclusive_queue = true});
    const Words flag(1), data(1);
    f.spin.launch(bad, {.grid = 1, .workgroup = 1}, flag.data());
    break_queue(bad);
    f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    other.wait(good.record());
    f.scale_add.launch(other, {.grid = 1, .workgroup = 1}, data.data(), 2u, 0u, 1u);
    flag.set(1);
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK(data.get() == 14);
    CHECK(bad.failed());
    CHECK_FALSE(good.failed());
}

TEST_CASE("an endless kernel ends with its stream; other streams of the queue continue", "[stream][pool][deadline]") {
    NEEDS_DEVICE();
    Crowd f;
    const Words flag(1), data(1);
    Stream& good = *f.neighbours().at(0);
    f.spin.launch(f.streams[0], {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    CHECK_THROWS_WITH(good.synchronize(20ms), Contains("is queued after stream") && Contains("kernel spin(0x"));
    CHECK_FALSE(f.streams[0].close(20ms));
    CHECK_NOTHROW(good.synchronize(patience));
    CHECK(data.get() == 7);
    flag.set(1);
}

TEST_CASE("destroying a stream whose packets are enqueued after another stream's loses no work of the other",
          "[stream][pool]") {
    NEEDS_DEVICE();
    Crowd f;
    const Words flag(1), data(2);
    Stream& busy = *f.neighbours().at(0);
    f.spin.launch(busy, {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(f.streams[0], {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    CHECK_FALSE(f.streams[0].close(20ms));
    f.scale_add.launch(busy, {.grid = 1, .workgroup = 1}, data.data() + 1, 0u, 8u, 1u);
    flag.set(1);
    CHECK_NOTHROW(busy.synchronize(patience));
    CHECK(is_written_or_stopped(data, 7));  // its resources were kept
    CHECK(data.get(1) == 8);
}

TEST_CASE("child: a fault on a shared queue", "[.child][defect]") {
    Crowd f;
    const Words data(1);
    Stream& good = *f.neighbours().at(0);
    f.store_at.launch(f.streams[0], {.grid = 1, .workgroup = 1}, std::uint64_t{0x123456789000}, 1u);
    try {
        f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    } catch (const DeviceLost&) {  // the fault is known already
    }
    CHECK_THROWS_WITH(f.streams[0].synchronize(patience), Contains("kernel store_at"));
    CHECK_THROWS_AS(f.streams[0].synchronize(patience), MemoryFault);
    CHECK_THROWS_AS(good.synchronize(patience), DeviceLost);
    CHECK(data.get() == 0);
}

TEST_CASE("a memory fault on a shared queue is attributed to the stream whose packet ran", "[stream][pool][error]") {
    NEEDS_DEVICE();
    check_child("child: a fault on a shared queue");
}

TEST_CASE("child: a fault while another thread launches", "[.child][defect]") {
    Crowd f;
    const Words data(1);
    f.store_at.launch(f.streams[0], {.grid = 1, .workgroup = 1}, std::uint64_t{0x123456789000}, 1u);
    std::thread launching([&] {
        try {
            for (;;) f.scale_add.launch(f.streams[0], {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
        } catch (const Error&) {  // the fault
        }
    });
    launching.join();
    CHECK_THROWS_WITH(f.streams[0].synchronize(patience), Contains("kernel store_at"));
}

TEST_CASE("the kernel of a memory fault is named while another thread launches", "[stream][pool][error]") {
    NEEDS_DEVICE();
    for (int i = 0; i < 5; ++i) check_child("child: a fault while another thread launches");
}

TEST_CASE("a running stream that failed with another's event is not suspected for its neighbour's packet",
          "[stream][pool][error]") {
    NEEDS_DEVICE();
    Crowd f;
    Stream& heir = f.streams[0];
    Stream& bad = *f.neighbours().at(0);
    const Words flag(1), data(1);
    Stream upstream(f.gpu, {.name = "upstream", .exclusive_queue = true});
    f.spin.launch(upstream, {.grid = 1, .workgroup = 1}, flag.data());
    break_queue(upstream);
    heir.wait(upstream.record());
    f.scale_add.launch(heir, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    flag.set(1);
    CHECK_THROWS_AS(heir.synchronize(patience), QueueError);
    break_queue(bad);  // after the work that the heir waits for
    CHECK_THROWS_WITH(bad.synchronize(patience), !Contains("upstream"));
    CHECK_THROWS_WITH(heir.synchronize(patience), Contains("stream 'upstream'"));
}
