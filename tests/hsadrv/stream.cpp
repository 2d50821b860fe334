// Streams without kernels: copies in every direction and their order, waiting, and failure.
#include "hsadrv/stream.hpp"

#include <numeric>
#include <thread>
#include <vector>

#include "device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

struct Fixture : Device {
    Stream stream{gpu};
    Allocation device(std::size_t size) const { return Allocation::from_pool(device_pool(gpu), size); }
    static Allocation pinned(std::size_t size) { return Allocation::from_pool(host_pool(), size); }
    void wait() { stream.synchronize(patience); }
};

std::vector<std::uint8_t> pattern(std::size_t size, unsigned seed = 1) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::uint8_t>((i * 31 + i / 251 + seed) & 0xff);
    return bytes;
}

std::span<std::uint8_t> bytes_of(const Allocation& allocation) {
    return {static_cast<std::uint8_t*>(allocation.data()), allocation.size_bytes()};
}

/// Stops the stream's queue: a packet of no known type.
void break_queue(Stream& stream) {
    Packet packet = barrier_and({});
    packet.words[0] = (packet.words[0] & ~0xffu) | 7;
    stream.submit(packet);
}

/// Holds the stream until opened.
struct Gate {
    explicit Gate(Stream& stream) {
        const hsa_signal_t signal = shut.native();
        stream.submit(barrier_and({&signal, 1}));
    }
    void open() const { shut.store(0); }
    Signal shut = Signal::create(1);
};

}  // namespace

TEST_CASE("a fresh stream is idle, and synchronising it returns at once", "[stream]") {
    NEEDS_DEVICE();
    Fixture f;
    CHECK(f.stream.query());
    CHECK_NOTHROW(f.stream.synchronize(0ms));
    CHECK_FALSE(f.stream.failed());
    CHECK(f.stream.agent() == f.gpu);
}

TEST_CASE("pageable memory goes to the device and back, whatever its size and offset", "[stream][copy]") {
    NEEDS_DEVICE();
    Fixture f;
    for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{63}, std::size_t{4096},
                                   std::size_t{65537}, std::size_t{2} << 20, (std::size_t{7} << 20) + 13}) {
        CAPTURE(size);
        const Allocation device = f.device(size + 5);
        auto* const at = static_cast<std::uint8_t*>(device.data()) + 5;
        const auto source = pattern(size);
        std::vector<std::uint8_t> back(size);
        f.stream.copy_async(at, source.data(), size);
        f.stream.copy_async(back.data(), at, size, patience);
        CHECK(back == source);
    }
}

TEST_CASE("a pageable source may be reused as soon as the call returns", "[stream][copy]") {
    NEEDS_DEVICE();
    Fixture f;
    const std::size_t size = 5 << 20;
    const Allocation device = f.device(size);
    auto source = pattern(size);
    const auto original = source;
    f.stream.copy_async(device.data(), source.data(), size);
    std::fill(source.begin(), source.end(), 0);
    std::vector<std::uint8_t> back(size);
    f.stream.copy_async(back.data(), device.data(), size);
    CHECK(back == original);
}

TEST_CASE("pinned memory is copied both ways without waiting", "[stream][copy]") {
    NEEDS_DEVICE();
    Fixture f;
    const std::size_t size = 300000;
    const Allocation from = f.pinned(size), device = f.device(size), to = f.pinned(size);
    const auto source = pattern(size);
    std::copy(source.begin(), source.end(), bytes_of(from).begin());
    f.stream.copy_async(device.data(), from.data(), size);
    f.stream.copy_async(to.data(), device.data(), size);
    f.wait();
    CHECK(std::equal(source.begin(), source.end(), bytes_of(to).begin()));
}

TEST_CASE("registered memory is copied by its host address", "[stream][copy][register]") {
    NEEDS_DEVICE();
    Fixture f;
    auto source = pattern(100000);
    std::vector<std::uint8_t> back(source.size());
    const Registration from(source.data(), source.size(), {f.gpu}), to(back.data(), back.size(), {f.gpu});
    const Allocation device = f.device(source.size());
    f.stream.copy_async(device.data(), source.data() + 100, source.size() - 100);
    f.stream.copy_async(back.data() + 100, device.data(), source.size() - 100);
    f.wait();
    CHECK(std::equal(source.begin() + 100, source.end(), back.begin() + 100));
}

TEST_CASE("device memory is copied within a device", "[stream][copy]") {
    NEEDS_DEVICE();
    Fixture f;
    for (const std::size_t size : {std::size_t{4096}, std::size_t{100001}}) {
        const Allocation a = f.device(size), b = f.device(size);
        const auto source = pattern(size, 9);
        std::vector<std::uint8_t> back(size);
        f.stream.copy_async(a.data(), source.data(), size);
        f.stream.copy_async(b.data(), a.data(), size);
        f.stream.copy_async(back.data(), b.data(), size, patience);
        CHECK(back == source);
    }
}

TEST_CASE("host memory is copied to host memory in the stream's order", "[stream][copy]") {
    NEEDS_DEVICE();
    Fixture f;
    const auto source = pattern(50000);
    const Allocation a = f.pinned(source.size()), b = f.pinned(source.size());
    std::vector<std::uint8_t> back(source.size()), copy(source.size());
    f.stream.copy_async(a.data(), source.data(), source.size());
    f.stream.copy_async(b.data(), a.data(), source.size());
    f.stream.copy_async(back.data(), b.data(), source.size(), patience);
    f.stream.copy_async(copy.data(), back.data(), source.size(), patience);
    CHECK(copy == source);
}

TEST_CASE("device memory is copied between devices", "[stream][copy]") {
    NEEDS_DEVICE();
    Fixture f;
    if (f.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    const std::size_t size = 3 << 20;
    const Allocation a = f.device(size), b = Allocation::from_pool(device_pool(f.driver.gpus()[1]), size);
    const auto source = pattern(size);
    std::vector<std::uint8_t> back(size);
    f.stream.copy_async(a.data(), source.data(), size);
    f.stream.copy_async(b.data(), a.data(), size);
    f.stream.copy_async(a.data(), b.data(), size);
    f.stream.copy_async(back.data(), b.data(), size, patience);
    CHECK(back == source);
}

TEST_CASE("operations happen in the order of their calls", "[stream]") {
    NEEDS_DEVICE();
    Fixture f;
    const std::size_t size = 64 << 10;
    const Allocation device = f.device(size), pinned = f.pinned(size), out = f.pinned(size);
    const Gate gate(f.stream);
    // Behind a gate, so that all of them are in flight together; the last one to write wins.
    for (int value = 1; value <= 5; ++value) {
        f.stream.copy_async(device.data(), pattern(size, static_cast<unsigned>(value)).data(), size);
        f.stream.copy_async(pinned.data(), device.data(), size);
    }
    f.stream.copy_async(out.data(), pinned.data(), size);
    gate.open();
    f.wait();
    CHECK(std::equal(bytes_of(out).begin(), bytes_of(out).end(), pattern(size, 5).begin()));
}

TEST_CASE("fills repeat any pattern over any multiple of it", "[stream][fill]") {
    NEEDS_DEVICE();
    Fixture f;
    struct Triple {
        std::uint8_t a, b, c;
        bool operator==(const Triple&) const = default;
    };
    const Allocation device = f.device(4 << 20);
    std::vector<Triple> triples(300000);
    f.stream.fill_async(static_cast<Triple*>(device.data()), Triple{1, 2, 3}, triples.size());
    f.stream.copy_async(triples.data(), device.data(), triples.size() * sizeof(Triple), patience);
    CHECK(std::all_of(triples.begin(), triples.end(), [](Triple t) { return t == Triple{1, 2, 3}; }));

    std::vector<std::uint8_t> bytes(7);
    f.stream.fill_async(static_cast<std::uint8_t*>(device.data()) + 1, std::uint8_t{0xee}, bytes.size());
    f.stream.copy_async(bytes.data(), static_cast<std::uint8_t*>(device.data()) + 1, bytes.size(), patience);
    CHECK(bytes == std::vector<std::uint8_t>(7, 0xee));

    const Allocation pinned = f.pinned(1 << 20);
    f.stream.fill_async(static_cast<std::uint64_t*>(pinned.data()), std::uint64_t{42}, (1 << 20) / 8);
    f.wait();
    CHECK(static_cast<std::uint64_t*>(pinned.data())[(1 << 20) / 8 - 1] == 42);
}

TEST_CASE("copies and fills that cannot be are refused before anything is enqueued", "[stream][copy]") {
    NEEDS_DEVICE();
    Fixture f;
    const Allocation device = f.device(4096);
    std::vector<std::uint8_t> host(8192);
    auto* const at = static_cast<std::uint8_t*>(device.data());
    CHECK_NOTHROW(f.stream.copy_async(nullptr, nullptr, 0));
    CHECK_THROWS_AS(f.stream.copy_async(nullptr, host.data(), 1), InvalidArgument);
    CHECK_THROWS_AS(f.stream.copy_async(at, nullptr, 1), InvalidArgument);
    CHECK_THROWS_AS(f.stream.copy_async(at, host.data(), 8192), InvalidArgument);
    CHECK_THROWS_WITH(f.stream.copy_async(at + 4000, host.data(), 97), Contains("destination has 96 B left"));
    CHECK_THROWS_WITH(f.stream.copy_async(host.data(), at + 4095, 2), Contains("source has 1 B left"));
    CHECK_THROWS_WITH(f.stream.copy_async(at, at + 10, 11), Contains("overlap"));
    CHECK_THROWS_AS(f.stream.copy_async(at, host.data(), SIZE_MAX), InvalidArgument);
    CHECK_THROWS_AS(f.stream.fill_async(at, 10, std::span<const std::byte>()), InvalidArgument);
    CHECK_NOTHROW(f.stream.copy_async(at, at + 10, 10));
    f.wait();
}

TEST_CASE("query and synchronize know of packets that the caller put on the queue", "[stream][deadline]") {
    NEEDS_DEVICE();
    Fixture f;
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
    Fixture f;
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
    Fixture f;
    const Allocation device = f.device(4 << 20), to = f.pinned(4 << 20);
    const auto source = pattern(4 << 20);
    {
        const auto guard = f.stream.auto_synchronize(patience);
        f.stream.copy_async(device.data(), source.data(), source.size());
        f.stream.copy_async(to.data(), device.data(), source.size());
    }
    CHECK(std::equal(source.begin(), source.end(), bytes_of(to).begin()));
}

TEST_CASE("a stream may be destroyed with work in flight: the work is done first", "[stream]") {
    NEEDS_DEVICE();
    Fixture f;
    const Allocation device = f.device(4 << 20), to = f.pinned(4 << 20);
    const auto source = pattern(4 << 20, 5);
    {
        Stream stream(f.gpu);
        stream.copy_async(device.data(), source.data(), source.size());
        stream.copy_async(to.data(), device.data(), source.size());
    }
    CHECK(std::equal(source.begin(), source.end(), bytes_of(to).begin()));
}

TEST_CASE("streams move", "[stream]") {
    NEEDS_DEVICE();
    Fixture f;
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

TEST_CASE("an invalid packet fails its stream with a sticky error; other streams stay usable",
          "[stream][error]") {
    NEEDS_DEVICE();
    Fixture f;
    Stream other(f.gpu);
    const Allocation device = f.device(4096);
    std::vector<std::uint8_t> host(4096, 1);
    break_queue(f.stream);
    for (int tries = 0; !f.stream.failed() && tries < 1000; ++tries) std::this_thread::sleep_for(10ms);
    REQUIRE(f.stream.failed());
    CHECK_THROWS_AS(f.stream.synchronize(patience), QueueError);
    CHECK_THROWS_AS(f.stream.query(), QueueError);
    CHECK_THROWS_AS(f.stream.copy_async(device.data(), host.data(), 4096), QueueError);
    CHECK_THROWS_AS(f.stream.fill_async(static_cast<int*>(device.data()), 1, 4), QueueError);
    CHECK_THROWS_AS(f.stream.dispatch({}, [](std::byte*) {}), QueueError);

    other.copy_async(device.data(), host.data(), 4096);
    std::vector<std::uint8_t> back(4096);
    other.copy_async(back.data(), device.data(), 4096, patience);
    CHECK(back == host);
}

TEST_CASE("whoever waits for a stream when it fails is woken; copies behind it do not block others",
          "[stream][error]") {
    NEEDS_DEVICE();
    Fixture f;
    Stream other(f.gpu);
    const Allocation device = f.device(4096), pinned = f.pinned(4096), elsewhere = f.device(4096);
    Gate gate(f.stream);
    // Counted work behind the gate, then a copy that waits for it, then the packet that stops the queue.
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

TEST_CASE("auto_synchronize keeps what went wrong for the next wait", "[stream][error]") {
    NEEDS_DEVICE();
    Fixture f;
    {
        const auto guard = f.stream.auto_synchronize(patience);
        break_queue(f.stream);
        f.stream.dispatch({}, [](std::byte*) {});
    }
    CHECK_THROWS_AS(f.stream.synchronize(patience), QueueError);
}

TEST_CASE("closing a stream that hangs returns at its deadline and says that work was lost",
          "[stream][deadline]") {
    NEEDS_DEVICE();
    Fixture f;
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

TEST_CASE("the ring of a stream is back-pressure with a deadline", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    const std::uint32_t size = device.gpu.queue_min_packets();
    Stream stream(device.gpu, {.packets = size, .kernarg_bytes = 64 * 1024, .drain = 1ms});
    const Signal never = Signal::create(1);
    const hsa_signal_t dependency = never.native();
    stream.submit(barrier_and({&dependency, 1}));
    std::uint32_t accepted = 0;
    try {
        for (; accepted < 4 * size; ++accepted)
            stream.dispatch(
                {}, [](std::byte*) {}, 20ms);
    } catch (const Timeout& timeout) {
        CHECK_THAT(timeout.what(), Contains("no room") && Contains("packets complete"));
    }
    CHECK(accepted >= size - 1);
    CHECK(accepted <= size + 1);
}

TEST_CASE("argument storage is back-pressure too, and larger arguments than it holds are refused",
          "[stream][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu, {.packets = 64, .kernarg_bytes = 1024, .drain = 1ms});
    CHECK_THROWS_AS(stream.dispatch({.kernarg_bytes = 1025}, [](std::byte*) {}), InvalidArgument);
    const Signal never = Signal::create(1);
    const hsa_signal_t dependency = never.native();
    stream.submit(barrier_and({&dependency, 1}));
    stream.dispatch(
        {.kernarg_bytes = 512}, [](std::byte*) {}, 20ms);
    stream.dispatch(
        {.kernarg_bytes = 512}, [](std::byte*) {}, 20ms);
    CHECK_THROWS_AS(stream.dispatch(
                        {.kernarg_bytes = 64}, [](std::byte*) {}, 20ms),
                    Timeout);
}

TEST_CASE("arguments that throw enqueue nothing and leave the stream usable", "[stream]") {
    NEEDS_DEVICE();
    Fixture f;
    CHECK_THROWS_AS(
        f.stream.dispatch({.kernarg_bytes = 64}, [](std::byte*) { throw std::runtime_error("no"); }),
        std::runtime_error);
    CHECK(f.stream.progress().submitted == 0);
    CHECK(f.stream.query());
    const Allocation device = f.device(64);
    f.stream.fill_async(static_cast<std::uint8_t*>(device.data()), std::uint8_t{1}, 64);
    f.wait();
}

TEST_CASE("a stream needs a GPU and sane options", "[stream]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK_THROWS_AS(Stream(device.driver.cpus().front()), InvalidArgument);
    CHECK_THROWS_AS(Stream(AgentRef()), InvalidArgument);
    CHECK_THROWS_AS(Stream(device.gpu, {.packets = 100}), InvalidArgument);
    CHECK_THROWS_AS(Stream(device.gpu, {.kernarg_bytes = 100}), InvalidArgument);
}

TEST_CASE("threads share a stream, and streams share a device", "[stream][stress]") {
    NEEDS_DEVICE();
    Fixture f;
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
