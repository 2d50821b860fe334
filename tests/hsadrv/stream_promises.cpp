// What a stream never does, whatever fails: runs work after lost work, blocks another stream's copies, keeps
// waiters waiting, writes after its end.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/stream/queue_pool.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("a copy that waits for a kernel occupies no engine that another stream needs", "[stream][copy]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Allocation other_device = Allocation::from_pool(device_pool(f.gpu), 4096);
    const Words flag(1), other(1024, 3);
    Stream waits(f.gpu), goes(f.gpu);
    f.spin.launch(waits, one, flag.data());
    waits.copy_async(f.device.data(), f.pinned.data(), 4096);  // each direction
    waits.copy_async(f.pinned.data(), f.device.data(), 4096);
    goes.copy_async(other_device.data(), other.data(), 4096);
    goes.fill_async(other.data(), 4096, std::as_bytes(std::span("\0", 1)));
    goes.copy_async(other.data(), other_device.data(), 4096);
    CHECK_NOTHROW(goes.synchronize(patience));
    CHECK(other.get(1023) == 3);
    CHECK_FALSE(waits.query());
    flag.set(1);
    CHECK_NOTHROW(waits.synchronize(patience));
    CHECK(f.pinned.get(1023) == 7);
}

TEST_CASE("a copy that waits for a host function occupies no engine that another stream needs",
          "[stream][copy][host]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Words other(1024, 3);
    Stream waits(f.gpu), goes(f.gpu);
    std::atomic<bool> may_end{false};
    waits.call([&] {
        while (!may_end) std::this_thread::sleep_for(1ms);
    });
    waits.copy_async(f.device.data(), f.pinned.data(), 4096);
    const Allocation other_device = Allocation::from_pool(device_pool(f.gpu), 4096);
    Words flag(1);
    f.spin.launch(goes, one, flag.data());  // so that its copy is submitted to the engine later
    goes.copy_async(other_device.data(), other.data(), 4096);
    flag.set(1);
    CHECK_NOTHROW(goes.synchronize(patience));
    may_end = true;
    CHECK_NOTHROW(waits.synchronize(patience));
}

TEST_CASE("gates of a failed stream are not reused while a packet refers to them, and are released later",
          "[stream][pool]") {
    NEEDS_DEVICE();
    {
        CopyKernels f;
        std::vector<Stream> streams = crowd(f.gpu);
        Stream *const runs = &streams[0], *const fails = neighbours_of_first(streams).at(0);
        const Words flag(1), words(16, 1);
        f.spin.launch(*runs, one, flag.data());
        // After the neighbour's kernel: a kernel, a gate, a copy; and the stream is closed.
        f.scale_add.launch(*fails, one, words.data(), 0u, 5u, 1u);
        fails->copy_async(f.device.data(), f.pinned.data(), 4096);
        CHECK_FALSE(fails->close(20ms));
        // Its signals' next owners: copies after long-running kernels.
        std::vector<std::unique_ptr<Stream>> next;
        const Words other_flag(1);
        for (int i = 0; i < 8; ++i) {
            next.push_back(std::make_unique<Stream>(f.gpu, StreamOptions{.exclusive_queue = true}));
            f.spin.launch(*next.back(), one, other_flag.data());
            next.back()->copy_async(f.pinned.data(), f.device.data(), 64);
        }
        flag.set(1);
        CHECK_NOTHROW(runs->synchronize(patience));
        let_time_pass();
        for (const auto& stream : next) CHECK_FALSE(stream->query());
        other_flag.set(1);
        for (const auto& stream : next) CHECK_NOTHROW(stream->synchronize(patience));
    }
    CHECK(eventually([] { return !detail::Runtime::find(); }));
}

TEST_CASE("querying twenty rounds of double buffering is fast", "[stream][event]") {
    NEEDS_DEVICE();
    CopyKernels f;
    Stream load(f.gpu), work(f.gpu);
    const Words flag(1), words(16, 1);
    f.spin.launch(load, one, flag.data());
    Event last;
    for (int round = 0; round < 20; ++round) {
        load.wait(work.record());
        f.scale_add.launch(load, one, words.data(), 1u, 1u, 1u);
        work.wait(load.record());
        f.scale_add.launch(work, one, words.data() + 1, 1u, 1u, 1u);
        last = work.record();
    }
    const auto start = Deadline::Clock::now();
    for (int i = 0; i < 100; ++i) CHECK_FALSE(last.query());
    CHECK(Deadline::Clock::now() - start < 5s);  // 18 rounds took half a minute each
    flag.set(1);
    CHECK_NOTHROW(last.synchronize(patience));
    CHECK(words.get(1) == 21);
}

TEST_CASE("a host function may throw any type", "[stream][host][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    {
        Stream stream(f.gpu);
        stream.call([] { throw 42; });
        CHECK_THROWS_AS(stream.synchronize(patience), int);
        CHECK(stream.failed());
    }
    Stream closed(f.gpu);
    closed.call([] { throw 42; });
    CHECK_FALSE(closed.close(patience));
    {
        Stream destroyed = Stream(f.gpu), other = std::move(destroyed);
        other.call([] { throw "text"; });
    }
    SUCCEED("the process continues");
}

TEST_CASE("a graph keeps its code", "[graph]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu);
    const Words words(16, 1);
    Graph graph;
    {
        const Executable code = Executable::load(device.gpu, test_support::test_file("stream.hsaco"));
        stream.begin_capture();
        code.kernel("scale_add").launch(stream, one, words.data(), 2u, 1u, 1u);
        graph = stream.end_capture();
    }
    graph.launch(stream);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(words.get() == 3);
}

TEST_CASE("an interrupted graph launch keeps the memory that its packets read", "[graph][deadline]") {
    NEEDS_DEVICE();
    CopyKernels f;
    Stream stream(f.gpu, {.packets = 64});
    const Words flag(1), words(16, 0);
    stream.begin_capture();
    for (int i = 0; i < 600; ++i) f.scale_add.launch(stream, one, words.data(), 1u, 1u, 1u);
    auto graph = std::make_unique<Graph>(stream.end_capture());
    f.spin.launch(stream, one, flag.data());
    int complete = 0;
    try {
        for (; complete < 100; ++complete) graph->launch(stream, 20ms);
        FAIL("no limit");
    } catch (const Timeout&) {
    }
    graph.reset();
    // Memory that would reuse a block freed too early.
    std::vector<Allocation> later;
    for (int i = 0; i < 64; ++i) {
        later.push_back(Allocation::from_pool(host_pool(HostMemory::kernarg), 64u << 10));
        std::fill_n(later.back().as<std::uint8_t>(), 64u << 10, std::uint8_t{0x77});
    }
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(words.get() >= 600u * static_cast<unsigned>(complete));
    CHECK(words.get() <= 600u * static_cast<unsigned>(complete + 1));
}

TEST_CASE("33 streams over a failed queue end in order, and the results of healthy streams are right",
          "[stream][pool]") {
    NEEDS_DEVICE();
    CopyKernels f;
    constexpr std::size_t count = 33;
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < count; ++i) streams.emplace_back(f.gpu);
    const Words flag(1), words(64, 0);
    f.spin.launch(streams[0], one, flag.data());
    break_queue(streams[0]);
    // Each waits for the previous one, so that the order of the slots is the only one without a cycle.
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 1; i < count; ++i) {
            if (i > 1) streams[i].wait(streams[i - 1].record());
            // A word each: a stream of the next round may run concurrently with one of this round.
            f.scale_add.launch(streams[i], one, words.data() + i, 1u, 1u, 1u);
        }
    flag.set(1);
    CHECK_THROWS_AS(streams[0].synchronize(patience), QueueError);
    for (std::size_t i = 1; i < count; ++i) {
        INFO("stream " << i);
        CHECK_NOTHROW(streams[i].synchronize(patience));
        CHECK(words.get(i) == 3);
    }
}

TEST_CASE("a destroyed stream does not write to memory freed afterwards", "[stream][pool][memory]") {
    NEEDS_DEVICE();
    CopyKernels f;
    std::vector<Stream> streams = crowd(f.gpu);
    Stream *const runs = &streams[0], *const goes = neighbours_of_first(streams).at(0);
    const Words flag(1);
    auto target = std::make_unique<Words>(1u << 20, 1);
    f.spin.launch(*runs, one, flag.data());
    f.store_at.launch(*goes, one, reinterpret_cast<std::uint64_t>(target->data()), 0xbad0bad0u);
    CHECK_FALSE(goes->close(20ms));
    target.reset();
    std::vector<std::unique_ptr<Words>> owners;
    for (int i = 0; i < 8; ++i) owners.push_back(std::make_unique<Words>(1u << 20, 1));
    flag.set(1);
    CHECK_NOTHROW(runs->synchronize(patience));
    let_time_pass();
    for (const auto& owner : owners) CHECK(owner->get() == 1);
}

TEST_CASE("closing immediately after a bad packet fails no other stream", "[stream][error]") {
    NEEDS_DEVICE();
    const Device device;
    for (int i = 0; i < 20; ++i) {
        Stream stream(device.gpu);
        break_queue(stream);
        CHECK_FALSE(stream.close(std::chrono::nanoseconds(0)));
    }
    Stream other(device.gpu);
    CHECK_NOTHROW(other.synchronize(patience));
}

TEST_CASE("a closed stream is refused as closed", "[stream][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Words words(16, 1);
    Stream stream(f.gpu);
    CHECK(stream.close(patience));
    CHECK(stream.close(patience));
    CHECK_THROWS_WITH(stream.synchronize(patience), Contains("closed"));
    CHECK_THROWS_WITH(stream.query(), Contains("closed"));
    CHECK_THROWS_WITH(stream.record(), Contains("closed"));
    CHECK_THROWS_WITH(stream.copy_async(f.device.data(), f.pinned.data(), 4), Contains("closed"));
    CHECK_THROWS_WITH(f.scale_add.launch(stream, one, words.data(), 1u, 1u, 1u), Contains("closed"));
    CHECK_THROWS_WITH(stream.call([] {}), Contains("closed"));
    Stream moved(f.gpu);
    Stream taken = std::move(moved);
    CHECK_THROWS_WITH(moved.synchronize(patience), Contains("closed"));  // NOLINT: tested on purpose
}

TEST_CASE("a fill larger than memory is refused", "[stream][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    Stream stream(f.gpu);
    CHECK_THROWS_AS(stream.fill_async(f.device.as<std::uint64_t>(), std::uint64_t{1}, (SIZE_MAX / 8) + 2),
                    InvalidArgument);
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("arguments are aligned to 256 bytes, in streams and in graphs", "[stream][kernel]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Words words(16, 1);
    Stream stream(f.gpu);
    const auto misplaced = [&] {
        std::uintptr_t address = 0;
        try {
            stream.dispatch({.kernarg_bytes = 64}, [&](std::byte* kernarg) {
                address = reinterpret_cast<std::uintptr_t>(kernarg);
                throw std::runtime_error("stop");
            });
        } catch (const std::runtime_error&) {
        }
        return address % 256;
    };
    for (int i = 0; i < 5; ++i) {
        CHECK(misplaced() == 0);
        f.scale_add.launch(stream, one, words.data(), 1u, 1u, 1u);
    }
    stream.begin_capture();
    for (int i = 0; i < 5; ++i) {
        CHECK(misplaced() == 0);
        f.scale_add.launch(stream, one, words.data(), 1u, 1u, 1u);
    }
    stream.end_capture().launch(stream);
    stream.synchronize(patience);
    CHECK(words.get() == 11);
}

TEST_CASE("a stream waits for another's events and for signals with each kind of packet", "[stream][event]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Words flag(1), words(16, 1);
    const Signal go = Signal::create(7);
    Stream first(f.gpu), second(f.gpu);
    f.spin.launch(first, one, flag.data());
    f.scale_add.launch(first, one, words.data(), 3u, 1u, 1u);
    second.wait(first.record());
    f.scale_add.launch(second, one, words.data(), 5u, 1u, 1u);
    second.wait(go, Condition::equal, 3);
    f.scale_add.launch(second, one, words.data(), 7u, 1u, 1u);
    let_time_pass();
    CHECK(words.get() == 1);
    flag.set(1);
    first.synchronize(patience);
    go.store(5);
    let_time_pass();
    CHECK(words.get() == (1 * 3 + 1) * 5 + 1);
    go.store(3);
    CHECK_NOTHROW(second.synchronize(patience));
    CHECK(words.get() == ((1 * 3 + 1) * 5 + 1) * 7 + 1);
}

TEST_CASE("a signal that a closed stream waited for may be destroyed at once", "[stream][signal]") {
    NEEDS_DEVICE();
    CopyKernels f;
    for (int i = 0; i < 20; ++i) {
        const Words words(16, 1);
        const Signal never = Signal::create(1);
        Stream stream(f.gpu);
        stream.wait(never, Condition::equal, 0);
        f.scale_add.launch(stream, one, words.data(), 0u, 2u, 1u);
        CHECK_FALSE(stream.close(1ms));
        CHECK(words.get() == 1);
    }
    Stream other(f.gpu);
    CHECK_NOTHROW(other.synchronize(patience));
}

TEST_CASE("a stream may end while its neighbour's failure moves it to another queue", "[stream][pool][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    for (int round = 0; round < 5; ++round) {
        std::vector<Stream> streams = crowd(f.gpu);
        for (std::size_t i = 0; i < detail::QueuePool::most; ++i) break_queue(streams[i]);
        std::atomic<std::size_t> told{0};
        {
            const std::jthread polls([&] {
                for (std::size_t i = 0; i < detail::QueuePool::most; ++i) try {
                        streams[i].synchronize(patience);
                    } catch (const QueueError&) {
                        ++told;
                    }
            });
            for (std::size_t i = detail::QueuePool::most; i < streams.size(); ++i) streams[i].close(patience);
        }
        CHECK(told == detail::QueuePool::most);
    }
    Stream other(f.gpu);
    CHECK_NOTHROW(other.synchronize(patience));
}
