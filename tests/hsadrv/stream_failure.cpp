// Streams that fail or are full: sticky errors, waiters woken, deadlines.
#include "hsadrv/stream.hpp"

#include <exception>
#include <thread>
#include <vector>

#include "stream_fixture.hpp"

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
    {
        const auto guard = f.stream.auto_synchronize(patience);
        break_queue(f.stream);
        f.stream.dispatch({}, [](std::byte*) {});
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
