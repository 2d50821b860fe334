// A stream without kernels: order, waits, kept resources, moves and sharing.
#include "hsadrv/stream.hpp"

#include <memory>
#include <thread>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

TEST_CASE("a fresh stream is idle, and synchronising it returns at once", "[stream]") {
    NEEDS_DEVICE();
    Buffers f;
    CHECK(f.stream.query());
    CHECK_NOTHROW(f.stream.synchronize(0ms));
    CHECK_FALSE(f.stream.failed());
    CHECK(f.stream.agent() == f.gpu);
}

TEST_CASE("operations run in the order of their calls", "[stream]") {
    NEEDS_DEVICE();
    Buffers f;
    const std::size_t size = 64 << 10;
    const Allocation device = f.device(size), pinned = f.pinned(size), out = f.pinned(size);
    const Gate gate(f.stream);
    // After a gate, so that all of them are in flight together; the last write wins.
    for (int value = 1; value <= 5; ++value) {
        f.stream.copy_async(device.data(), pattern(size, static_cast<unsigned>(value)).data(), size);
        f.stream.copy_async(pinned.data(), device.data(), size);
    }
    f.stream.copy_async(out.data(), pinned.data(), size);
    gate.open();
    f.wait();
    CHECK(std::equal(bytes_of(out).begin(), bytes_of(out).end(), pattern(size, 5).begin()));
}

TEST_CASE("query and synchronize include packets that the caller enqueued", "[stream][deadline]") {
    NEEDS_DEVICE();
    Buffers f;
    const Allocation device = f.device(4096), from = f.pinned(4096), to = f.pinned(4096);
    std::fill(bytes_of(from).begin(), bytes_of(from).end(), 1);
    std::fill(bytes_of(to).begin(), bytes_of(to).end(), 0);
    const Gate gate(f.stream);
    CHECK_FALSE(f.stream.query());
    f.stream.copy_async(device.data(), from.data(), 4096);
    f.stream.copy_async(to.data(), device.data(), 4096);
    CHECK_FALSE(f.stream.query());
    CHECK_THROWS_AS(f.stream.synchronize(30ms), Timeout);
    CHECK(bytes_of(to)[0] == 0);
    gate.open();
    f.wait();
    CHECK(f.stream.query());
    CHECK(bytes_of(to)[4095] == 1);
}

TEST_CASE("an object is kept until the work submitted before it is complete", "[stream]") {
    NEEDS_DEVICE();
    Buffers f;
    const Allocation device = f.device(1 << 20), pinned = f.pinned(1 << 20);
    auto idle = std::make_shared<int>(1);
    f.stream.keep_alive(idle);
    CHECK(idle.use_count() == 1);

    auto held = std::make_shared<int>(1);
    const Gate second(f.stream);
    f.stream.copy_async(device.data(), pinned.data(), 1 << 20);
    f.stream.keep_alive(held);
    f.stream.release(f.device(4096));
    CHECK(held.use_count() == 2);
    second.open();
    f.wait();
    CHECK(held.use_count() == 1);
}

TEST_CASE("auto_synchronize waits at the end of its scope", "[stream]") {
    NEEDS_DEVICE();
    Buffers f;
    const Allocation device = f.device(4 << 20), to = f.pinned(4 << 20);
    const auto source = pattern(4 << 20);
    {
        const auto guard = f.stream.auto_synchronize(patience);
        f.stream.copy_async(device.data(), source.data(), source.size());
        f.stream.copy_async(to.data(), device.data(), source.size());
    }
    CHECK(std::equal(source.begin(), source.end(), bytes_of(to).begin()));
}

TEST_CASE("a stream may be destroyed with work in flight: the work completes first", "[stream]") {
    NEEDS_DEVICE();
    Buffers f;
    const Allocation device = f.device(4 << 20), to = f.pinned(4 << 20);
    const auto source = pattern(4 << 20, 5);
    {
        Stream stream(f.gpu);
        stream.copy_async(device.data(), source.data(), source.size());
        stream.copy_async(to.data(), device.data(), source.size());
    }
    CHECK(std::equal(source.begin(), source.end(), bytes_of(to).begin()));
}

TEST_CASE("streams can be moved", "[stream]") {
    NEEDS_DEVICE();
    Buffers f;
    Stream other = std::move(f.stream);
    f.stream = Stream(f.gpu);
    other = std::move(f.stream);
    const Allocation device = f.device(64);
    std::vector<std::uint8_t> back(64);
    other.fill_async(static_cast<std::uint8_t*>(device.data()), std::uint8_t{3}, 64);
    other.copy_async(back.data(), device.data(), 64, patience);
    CHECK(back == std::vector<std::uint8_t>(64, 3));
}

TEST_CASE("a stream outlives the driver it was made under", "[stream]") {
    NEEDS_DEVICE();
    std::unique_ptr<Stream> stream;
    Allocation device;
    {
        const Device d;
        stream = std::make_unique<Stream>(d.gpu);
        device = Allocation::from_pool(device_pool(d.gpu), 4096);
    }
    std::vector<std::uint8_t> back(4096);
    stream->fill_async(static_cast<std::uint8_t*>(device.data()), std::uint8_t{8}, 4096);
    stream->copy_async(back.data(), device.data(), 4096, patience);
    CHECK(back == std::vector<std::uint8_t>(4096, 8));
}

TEST_CASE("arguments that throw enqueue nothing and leave the stream usable", "[stream]") {
    NEEDS_DEVICE();
    Buffers f;
    CHECK_THROWS_AS(f.stream.dispatch({.kernarg_bytes = 64}, [](std::byte*) { throw std::runtime_error("no"); }),
                    std::runtime_error);
    CHECK(f.stream.progress().submitted == 0);
    CHECK(f.stream.query());
    const Allocation device = f.device(64);
    f.stream.fill_async(static_cast<std::uint8_t*>(device.data()), std::uint8_t{1}, 64);
    f.wait();
}

TEST_CASE("a stream needs a GPU and valid options", "[stream]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK_THROWS_AS(Stream(device.driver.cpus().front()), InvalidArgument);
    CHECK_THROWS_AS(Stream(AgentRef()), InvalidArgument);
    CHECK_THROWS_AS(Stream(device.gpu, {.packets = 100}), InvalidArgument);
    CHECK_THROWS_AS(Stream(device.gpu, {.kernarg_bytes = 100}), InvalidArgument);
}

TEST_CASE("threads share a stream, and streams share a device", "[stream][stress]") {
    NEEDS_DEVICE();
    Buffers f;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            Stream own(f.gpu);
            for (unsigned i = 0; i < 20; ++i) {
                Stream& stream = i % 2 ? own : f.stream;
                const auto source = pattern(20000, t * 100 + i);
                const Allocation device = f.device(source.size());
                std::vector<std::uint8_t> back(source.size());
                stream.copy_async(device.data(), source.data(), source.size(), patience);
                stream.copy_async(back.data(), device.data(), source.size(), patience);
                wrong += back != source;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}
