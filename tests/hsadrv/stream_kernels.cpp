// Streams with kernels: one order for kernels and copies, long-running work, failing work.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("a launch on an empty stream works", "[stream][kernel]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words data(1000);
    f.scale_add.launch(stream, {.grid = 1000, .workgroup = 64}, data.data(), 3u, 7u, 1000u);
    stream.synchronize(patience);
    CHECK(data.get() == 7);
    CHECK(data.get(999) == 7);
    CHECK(stream.progress().submitted == 1);
    CHECK(stream.progress().completed == 1);
}

TEST_CASE("kernels and copies of a stream run in the order of their calls", "[stream][kernel]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    constexpr std::uint32_t n = 5000;
    const Allocation a = Allocation::from_pool(device_pool(f.gpu), 4 * n),
                     b = Allocation::from_pool(device_pool(f.gpu), 4 * n);
    std::vector<std::uint32_t> host(n, 1), back(n);
    std::uint32_t expected = 1;
    stream.copy_async(a.data(), host.data(), 4 * n);
    for (std::uint32_t round = 1; round <= 10; ++round) {
        f.scale_add.launch(stream, {.grid = n, .workgroup = 256}, a, 3u, round, n);
        stream.copy_async(b.data(), a.data(), 4 * n);
        f.scale_add.launch(stream, {.grid = n, .workgroup = 256}, b, 5u, 1u, n);
        f.scale_add.launch(stream, {.grid = n, .workgroup = 256}, b, 1u, 2u, n);
        stream.copy_async(a.data(), b.data(), 4 * n);
        expected = (expected * 3 + round) * 5 + 1 + 2;
    }
    stream.copy_async(back.data(), a.data(), 4 * n, patience);
    CHECK(back == std::vector<std::uint32_t>(n, expected));
}

TEST_CASE("a thousand launches in a small ring stay in order", "[stream][kernel]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.packets = 64, .kernarg_bytes = 2048});
    const Words data(64);
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        f.scale_add.launch(stream, {.grid = 64, .workgroup = 64}, data.data(), 3u, i, 64u);
        expected = expected * 3 + i;
    }
    stream.synchronize(patience);
    CHECK(data.get() == expected);
    CHECK(data.get(63) == expected);
    CHECK(stream.progress().completed == 1000);
}

TEST_CASE("a kernel's resources are kept until it is complete", "[stream][kernel]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words flag(1);
    auto held = std::make_shared<int>(1);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    stream.keep_alive(held);
    CHECK_FALSE(stream.query());
    CHECK(held.use_count() == 2);
    flag.set(1);
    stream.synchronize(patience);
    CHECK(held.use_count() == 1);
}

TEST_CASE("a wait for a long-running kernel ends at its deadline and names it; a later wait succeeds",
          "[stream][kernel][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words flag(1);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    CHECK_FALSE(stream.query());
    CHECK_THROWS_AS(stream.synchronize(30ms), Timeout);
    CHECK_THROWS_WITH(stream.synchronize(30ms), Contains("kernel spin") && Contains("0 of 1 packets complete"));
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("a long-running kernel does not delay another stream", "[stream][kernel]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream busy(f.gpu), other(f.gpu);
    const Words flag(1), data(64);
    f.spin.launch(busy, {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(other, {.grid = 64, .workgroup = 64}, data.data(), 1u, 9u, 64u);
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK(data.get() == 9);
    CHECK_FALSE(busy.query());
    flag.set(1);
    busy.synchronize(patience);
}

TEST_CASE("a copy enqueued after a kernel waits for it", "[stream][kernel]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words flag(1), data(1), copy(1);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 5u, 1u);
    stream.copy_async(copy.data(), data.data(), 4);
    std::this_thread::sleep_for(20ms);
    CHECK(copy.get() == 0);
    flag.set(1);
    stream.synchronize(patience);
    CHECK(copy.get() == 5);
}

TEST_CASE("closing a stream with an endless kernel returns", "[stream][kernel][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(1), copy(1);
    Stream stream(f.gpu);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    stream.copy_async(copy.data(), data.data(), 4);
    CHECK_FALSE(stream.close(50ms));
    Stream other(f.gpu);
    f.scale_add.launch(other, {.grid = 1, .workgroup = 1}, data.data(), 0u, 4u, 1u);
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK(data.get() == 4);
    flag.set(1);
}

TEST_CASE("several threads launch on one stream, each in its own order", "[stream][kernel][stress]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.packets = 64});
    constexpr int threads = 4, each = 50;
    std::vector<Words> data;
    for (int t = 0; t < threads; ++t) data.emplace_back(64);
    std::vector<std::thread> workers;
    std::atomic<int> failures{0};
    for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            for (std::uint32_t i = 0; i < each; ++i) try {
                    f.scale_add.launch(stream, {.grid = 64, .workgroup = 64}, data[t].data(), 3u, i, 64u);
                } catch (const std::exception&) {
                    ++failures;
                }
        });
    for (std::thread& worker : workers) worker.join();
    stream.synchronize(patience);
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < each; ++i) expected = expected * 3 + i;
    CHECK(failures == 0);
    for (const Words& words_of : data) CHECK(words_of.data()[63] == expected);
}

TEST_CASE("a null kernel object fails its stream; another stream continues", "[stream][kernel][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream bad(f.gpu), good(f.gpu);
    const Words data(64);
    bad.dispatch({}, [](std::byte*) {});
    CHECK_THROWS_AS(bad.synchronize(patience), QueueError);
    CHECK_THROWS_AS(f.scale_add.launch(bad, {.grid = 64, .workgroup = 64}, data.data(), 1u, 1u, 64u), QueueError);
    CHECK(bad.failed());
    f.scale_add.launch(good, {.grid = 64, .workgroup = 64}, data.data(), 1u, 1u, 64u);
    CHECK_NOTHROW(good.synchronize(patience));
    CHECK(data.get() == 1);
}

TEST_CASE("child: a memory fault", "[.child][defect]") {
    const Kernels f;
    constexpr std::uint64_t address = 0x123456789000;
    Stream bad(f.gpu), good(f.gpu);
    const Words data(64, 5);
    f.store_at.launch(bad, {.grid = 1, .workgroup = 1}, address, 1u);
    try {
        bad.synchronize(patience);
        FAIL("no error");
    } catch (const MemoryFault& fault) {
        CHECK(fault.address() / 4096 == address / 4096);
        CHECK_THAT(fault.what(), Contains("0x123456789") && Contains(f.gpu.label()) && Contains("kernel store_at"));
    }
    CHECK(bad.failed());
    CHECK_THROWS_AS(bad.query(), MemoryFault);
    CHECK_THROWS_AS(bad.synchronize(patience), MemoryFault);
    // The GPU's error, not that of later work.
    CHECK_THROWS_WITH(good.synchronize(patience), Contains("this process has lost " + f.gpu.label()));
    CHECK_THROWS_AS(f.scale_add.launch(good, {.grid = 64, .workgroup = 64}, data.data(), 1u, 1u, 64u), DeviceLost);
    CHECK_THROWS_AS(Stream(f.gpu), DeviceLost);
    CHECK(data.get() == 5);
}

TEST_CASE("a memory fault is thrown by the next wait with its address and kernel, and takes the GPU from the process",
          "[stream][kernel][error]") {
    NEEDS_DEVICE();
    check_child("child: a memory fault");
}

TEST_CASE("child: a memory fault beside another kernel", "[.child][defect]") {
    const Kernels f;
    const Words flag(1), data(1), copy(1);
    Stream bad(f.gpu, {.drain = 100ms}), busy(f.gpu, {.drain = 100ms}), idle(f.gpu);
    f.spin.launch(busy, {.grid = 1, .workgroup = 1}, flag.data());
    const Gate gate(bad);
    f.store_at.launch(bad, {.grid = 1, .workgroup = 1}, std::uint64_t{0x123456789000}, 1u);
    bad.copy_async(copy.data(), data.data(), 4);
    gate.open();  // not before the copy is enqueued: a stream that has failed takes none
    for (Stream* stream : {&bad, &busy}) {
        CHECK_THROWS_AS(stream->synchronize(patience), MemoryFault);
        CHECK_THROWS_WITH(stream->synchronize(patience),
                          Contains("2 queues may have caused it") && !Contains("kernel "));
    }
    CHECK(eventually([&] { return idle.failed(); }));  // after those that may have caused it
    CHECK_THROWS_AS(idle.synchronize(patience), DeviceLost);
    flag.set(1);  // where the GPU does not stop it
}

TEST_CASE("when the kernels of two streams ran at a memory fault, neither stream is blamed",
          "[stream][kernel][error]") {
    NEEDS_DEVICE();
    check_child("child: a memory fault beside another kernel");
}
