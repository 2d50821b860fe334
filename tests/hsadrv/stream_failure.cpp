// Streams that fail or are full: sticky errors, waiters woken, deadlines, and work after lost work does not run.
#include "hsadrv/stream.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hsadrv/error.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("an invalid packet fails its stream with a sticky error; other streams stay usable", "[stream][error]") {
    NEEDS_DEVICE();
    Buffers f;
    Stream other(f.gpu);
    const Allocation device = f.device(4096);
    std::vector<std::uint8_t> host(4096, 1);
    break_queue(f.stream);
    REQUIRE(eventually([&] { return f.stream.failed(); }));
    CHECK_THROWS_AS(f.stream.synchronize(patience), QueueError);
    CHECK_THROWS_WITH(f.stream.synchronize(patience),
                      Contains("stream ") && Contains(" on " + f.gpu.label() + " has failed: its queue ") &&
                          Contains("make a new one") && !Contains("rebuild"));
    CHECK_THROWS_AS(f.stream.query(), QueueError);
    CHECK_THROWS_AS(f.stream.copy_async(device.data(), host.data(), 4096), QueueError);
    CHECK_THROWS_AS(f.stream.fill_async(static_cast<int*>(device.data()), 1, 4), QueueError);
    CHECK_THROWS_AS(f.stream.dispatch({}, [](std::byte*) {}), QueueError);

    other.copy_async(device.data(), host.data(), 4096);
    std::vector<std::uint8_t> back(4096);
    other.copy_async(back.data(), device.data(), 4096, patience);
    CHECK(back == host);
}

TEST_CASE("waiters wake when their stream fails; copies enqueued after it do not block others", "[stream][error]") {
    NEEDS_DEVICE();
    Buffers f;
    Stream other(f.gpu);
    const Allocation device = f.device(4096), pinned = f.pinned(4096), elsewhere = f.device(4096);
    Gate gate(f.stream);
    // Counted work after the gate, then a copy that waits for it, then the packet that stops the queue.
    break_queue(f.stream);
    std::exception_ptr seen;
    std::thread waiter([&] {
        try {
            f.stream.dispatch({}, [](std::byte*) {});
            f.stream.copy_async(device.data(), pinned.data(), 4096);
            f.stream.synchronize(patience);
        } catch (...) {
            seen = std::current_exception();
        }
    });
    std::this_thread::sleep_for(50ms);
    gate.open();
    waiter.join();
    REQUIRE(seen);
    CHECK_THROWS_AS(std::rethrow_exception(seen), QueueError);

    std::vector<std::uint8_t> host(4096, 1), back(4096);
    other.copy_async(elsewhere.data(), host.data(), 4096, patience);
    other.copy_async(back.data(), elsewhere.data(), 4096, patience);
    CHECK(back == host);
}

TEST_CASE("auto_synchronize keeps the error for the next wait", "[stream][error]") {
    NEEDS_DEVICE();
    Buffers f;
    const Gate gate(f.stream);  // until all is enqueued: a stream that has failed takes no more
    {
        const auto guard = f.stream.auto_synchronize(patience);
        break_queue(f.stream);
        f.stream.dispatch({}, [](std::byte*) {});
        gate.open();
    }
    CHECK_THROWS_AS(f.stream.synchronize(patience), QueueError);
}

TEST_CASE("closing a hung stream returns at its deadline and reports the lost work", "[stream][deadline]") {
    NEEDS_DEVICE();
    Buffers f;
    const Signal never = Signal::create(1);
    const hsa_signal_t dependency = never.native();
    Stream stream(f.gpu);
    const Allocation device = f.device(4096), pinned = f.pinned(4096);
    stream.submit(barrier_and({&dependency, 1}));
    stream.dispatch({}, [](std::byte*) {});
    stream.copy_async(device.data(), pinned.data(), 4096);
    CHECK_FALSE(stream.query());
    CHECK_THROWS_AS(stream.synchronize(50ms), Timeout);
    CHECK_THROWS_WITH(stream.synchronize(50ms),
                      Contains("50 ms") && Contains(f.gpu.label()) && Contains("0 of 2 packets complete") &&
                          Contains("== 0, which is 1") && Contains("the host or another agent owes it"));
    const auto start = Deadline::Clock::now();
    CHECK_FALSE(stream.close(100ms));
    CHECK(Deadline::Clock::now() - start < 5s);
    CHECK_FALSE(Stream(std::move(f.stream)).failed());
}

TEST_CASE("a full ring of a stream is back-pressure with a deadline", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    const std::uint32_t size = device.gpu.queue_min_packets();
    Stream stream(device.gpu, {.packets = size, .kernarg_bytes = 64 * 1024, .drain = 1ms});
    const Signal never = Signal::create(1);
    const hsa_signal_t dependency = never.native();
    stream.submit(barrier_and({&dependency, 1}));
    std::uint32_t accepted = 0;
    try {
        for (; accepted < 4 * size; ++accepted) stream.dispatch({}, [](std::byte*) {}, 20ms);
    } catch (const Timeout& timeout) {
        CHECK_THAT(timeout.what(), Contains("no room") && Contains("packets complete"));
    }
    CHECK(accepted >= size - 1);
    CHECK(accepted <= size + 1);
}

TEST_CASE("full argument storage is back-pressure too, and arguments larger than the storage are refused",
          "[stream][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu, {.packets = 64, .kernarg_bytes = 1024, .drain = 1ms});
    CHECK_THROWS_AS(stream.dispatch({.kernarg_bytes = 1025}, [](std::byte*) {}), InvalidArgument);
    const Signal never = Signal::create(1);
    const hsa_signal_t dependency = never.native();
    stream.submit(barrier_and({&dependency, 1}));
    stream.dispatch({.kernarg_bytes = 512}, [](std::byte*) {}, 20ms);
    stream.dispatch({.kernarg_bytes = 512}, [](std::byte*) {}, 20ms);
    CHECK_THROWS_AS(stream.dispatch({.kernarg_bytes = 64}, [](std::byte*) {}, 20ms), Timeout);
}

TEST_CASE("work enqueued after a packet that stopped the queue does not run", "[stream][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Words flag(1), words(16, 1);
    Stream stream(f.gpu);
    stream.fill_async(f.device.as<std::uint32_t>(), 9u, 1024);
    stream.synchronize(patience);
    std::atomic<int> called{0};
    f.spin.launch(stream, one, flag.data());
    break_queue(stream);
    stream.copy_async(f.pinned.data(), f.device.data(), 4096);
    stream.call([&] { ++called; });
    f.scale_add.launch(stream, one, words.data(), 0u, 5u, 1u);
    flag.set(1);
    CHECK_THROWS_AS(stream.synchronize(patience), QueueError);
    let_time_pass();
    CHECK(f.pinned.get() == 7);
    CHECK(called == 0);
    CHECK(words.get() == 1);
}

TEST_CASE("work enqueued after a kernel that close() ended does not run, and its waiters fail", "[stream][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Words flag(1), words(16, 1), downstream_words(16, 1);
    auto stream = std::make_unique<Stream>(f.gpu);
    Stream downstream(f.gpu);
    std::atomic<int> called{0}, told{0};
    f.spin.launch(*stream, one, flag.data());
    stream->copy_async(f.pinned.data(), f.device.data(), 4096);
    const Event copied = stream->record();
    stream->call([&] { ++called; });
    f.scale_add.launch(*stream, one, words.data(), 0u, 5u, 1u);
    const Event launched = stream->record();
    stream->on_complete([&](std::exception_ptr error) {
        try {
            if (error) std::rethrow_exception(error);
        } catch (const StreamEnded&) {
            ++told;
        } catch (...) {
        }
    });
    downstream.wait(launched);
    f.scale_add.launch(downstream, one, downstream_words.data(), 0u, 5u, 1u);
    CHECK_FALSE(stream->close(50ms));
    CHECK_THROWS_AS(copied.synchronize(patience), StreamEnded);
    CHECK_THROWS_AS(launched.synchronize(patience), StreamEnded);
    CHECK_THROWS_AS(downstream.synchronize(patience), StreamEnded);
    CHECK_NOTHROW(f.driver.callbacks().drain(patience));
    CHECK(told == 1);
    let_time_pass();
    CHECK(called == 0);
    CHECK(f.pinned.get() == 7);
    CHECK(words.get() == 1);
    CHECK(downstream_words.get() == 1);
}

TEST_CASE("work enqueued after a host function that threw does not run, on its stream and on waiting streams",
          "[stream][host][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    const Words words(16, 1);
    Stream stream(f.gpu), downstream(f.gpu);
    stream.call([] { throw std::runtime_error("on purpose"); });
    try {
        f.scale_add.launch(stream, one, words.data(), 0u, 5u, 1u);
        stream.copy_async(f.pinned.data(), f.device.data(), 4096);
        const Event done = stream.record();
        downstream.wait(done);
        f.scale_add.launch(downstream, one, words.data() + 8, 0u, 5u, 1u);
    } catch (const std::runtime_error& error) {  // already failed
        CHECK(std::string(error.what()) == "on purpose");
    }
    CHECK_THROWS_WITH(stream.synchronize(patience), Contains("on purpose"));
    let_time_pass();
    CHECK(words.get(0) == 1);
    CHECK(words.get(8) == 1);
    CHECK(f.pinned.get() == 7);
    // The queue is free for others: create one stream more than there are queues.
    std::vector<Stream> streams;
    for (std::size_t i = 0; i <= detail::QueuePool::most; ++i) streams.emplace_back(f.gpu);
    for (Stream& other : streams) {
        f.scale_add.launch(other, one, words.data(), 0u, 6u, 1u);
        CHECK_NOTHROW(other.synchronize(patience));
    }
}

TEST_CASE("a stream fails with the stream it waits for before its waiting packet, and its neighbours continue",
          "[stream][event][error]") {
    NEEDS_DEVICE();
    CopyKernels f;
    std::vector<Stream> streams = crowd(f.gpu);
    Stream &downstream = streams[0], *const neighbour = neighbours_of_first(streams).at(0);
    Stream upstream(f.gpu, {.exclusive_queue = true});
    const Words flag(1), words(16, 1);
    f.spin.launch(upstream, one, flag.data());
    break_queue(upstream);
    f.scale_add.launch(upstream, one, words.data(), 0u, 5u, 1u);
    downstream.wait(upstream.record());
    f.scale_add.launch(downstream, one, words.data() + 1, 0u, 5u, 1u);
    f.scale_add.launch(*neighbour, one, words.data() + 2, 0u, 5u, 1u);
    flag.set(1);
    CHECK_THROWS_AS(downstream.synchronize(patience), QueueError);
    CHECK_NOTHROW(neighbour->synchronize(patience));
    CHECK(words.get(1) == 1);
    CHECK(words.get(2) == 5);
}
