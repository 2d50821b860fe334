// Queues on the device: packets in order, back-pressure with a deadline, typed errors.
#include "hsadrv/queue.hpp"

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/hsadrv/control.hpp"
#include "tests/hsadrv/device.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

Packet tick(const Signal& signal, std::span<const hsa_signal_t> dependencies = {}) {
    return barrier_and(dependencies, signal.native());
}

/// Holds the queue: packets after it wait until open() is called.
struct Gate {
    explicit Gate(QueueRef queue) {
        const hsa_signal_t signal = shut.native();
        queue.submit(barrier_and({&signal, 1}));
    }
    ~Gate() { open(); }
    void open() const { shut.store(0); }
    Signal shut = Signal::create(1);
};

}  // namespace

TEST_CASE("a barrier packet completes its signal", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu, {.packets = 128});
    const Signal done = Signal::create(1);
    CHECK(queue.ref().size() == 128);
    CHECK(queue.ref().submit(tick(done)) == 0);
    done.wait(Condition::equal, 0, patience);
    CHECK(queue.ref().write_index() == 1);
    CHECK(queue.ref().peek(0).as<hsa_barrier_and_packet_t>().completion_signal.handle == done.native().handle);
    CHECK_FALSE(queue.ref().failed());
    CHECK_NOTHROW(queue.ref().throw_if_failed());
}

TEST_CASE("a barrier-and waits for all its signals, a barrier-or for one", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue both = Queue::create(device.gpu), either = Queue::create(device.gpu);
    const Signal a = Signal::create(1), b = Signal::create(1), all = Signal::create(1), any = Signal::create(1);
    const hsa_signal_t dependencies[] = {a.native(), b.native()};
    both.ref().submit(barrier_and(dependencies, all.native()));
    either.ref().submit(barrier_or(dependencies, any.native()));
    a.store(0);
    any.wait(Condition::equal, 0, patience);
    CHECK_FALSE(all.try_wait(Condition::equal, 0, 30ms));
    b.store(0);
    all.wait(Condition::equal, 0, patience);
}

TEST_CASE("packets with the barrier bit complete in order, over three wraps of the ring", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const std::uint32_t size = device.gpu.queue_min_packets();
    const Queue queue = Queue::create(device.gpu, {.packets = size});
    std::vector<Signal> done;
    for (std::uint32_t i = 0; i < 3 * size + 7; ++i) done.push_back(Signal::create(1));
    for (std::uint32_t i = 0; i < done.size(); ++i) CHECK(queue.ref().submit(tick(done[i]), patience) == i);
    done.back().wait(Condition::equal, 0, patience);
    for (const Signal& signal : done) CHECK(signal.load() == 0);
}

TEST_CASE("a batch is submitted with one call, in order", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu);
    const Signal done = Signal::create(3);
    const Packet packets[] = {tick(done), tick(done), tick(done)};
    queue.ref().submit(packets);
    done.wait(Condition::equal, 0, patience);
    CHECK(queue.ref().write_index() == 3);
}

TEST_CASE("a full ring refuses, times out with its numbers, then accepts", "[queue][deadline]") {
    NEEDS_DEVICE();
    const Device device;
    const std::uint32_t size = device.gpu.queue_min_packets();
    const Queue owner = Queue::create(device.gpu, {.packets = size});
    const QueueRef queue = owner;
    const Signal done = Signal::create(static_cast<std::int64_t>(size));
    const Gate gate(queue);
    for (std::uint32_t i = 1; i < size; ++i) queue.submit(tick(done));

    // The packet processor may have consumed the gate packet already.
    while (queue.try_submit(tick(done))) done.ref().add(1);
    CHECK_THROWS_AS(queue.reserve(1, 20ms), Timeout);
    CHECK_THROWS_WITH(queue.reserve(1, 20ms),
                      Contains("is full") && Contains("write index") && Contains(std::to_string(size) + " slots"));
    gate.open();
    CHECK_NOTHROW(queue.submit(tick(done), patience));
    done.wait(Condition::equal, 0, patience);
}

TEST_CASE("more slots than the ring has can never be reserved", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu, {.packets = 64});
    CHECK_THROWS_AS(queue.ref().try_reserve(65), InvalidArgument);
    CHECK_THROWS_AS(queue.ref().try_reserve(0), InvalidArgument);
    CHECK(queue.ref().write_index() == 0);
}

TEST_CASE("eight producers share a queue over many wraps", "[queue][stress]") {
    NEEDS_DEVICE();
    const Device device;
    constexpr int producers = 8, each = 500;
    const Queue queue = Queue::create(device.gpu, {.packets = 64});
    const Signal done = Signal::create(producers * each);
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < producers; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < each; ++i) try {
                    queue.ref().submit(tick(done), patience);
                } catch (const std::exception&) {
                    ++failures;
                }
        });
    for (std::thread& thread : threads) thread.join();
    done.wait(Condition::equal, 0, patience);
    CHECK(failures == 0);
    CHECK(queue.ref().write_index() == std::uint64_t{producers} * each);
}

TEST_CASE("sizes that the agent does not support are refused with its limits", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    for (const std::uint32_t packets : {0u, 1u, 63u, 100u, device.gpu.queue_max_packets() * 2}) {
        CAPTURE(packets);
        CHECK_THROWS_AS(Queue::create(device.gpu, {.packets = packets}), InvalidArgument);
        CHECK_THROWS_WITH(Queue::create(device.gpu, {.packets = packets}),
                          Contains(std::to_string(device.gpu.queue_min_packets())) &&
                              Contains(std::to_string(device.gpu.queue_max_packets())));
    }
}

TEST_CASE("an unknown packet stops its queue with a typed, sticky error; others continue", "[queue][error]") {
    NEEDS_DEVICE();
    const Device device;
    std::atomic<int> told{0};
    const Signal wake = Signal::create(1);
    Queue bad = Queue::create(device.gpu, {.packets = 64, .on_error = [&] {
                                               ++told;
                                               wake.store(0);
                                           }});
    const Queue good = Queue::create(device.gpu, {.packets = 64});

    Packet packet = barrier_and({});
    packet.words[0] = (packet.words[0] & ~0xffu) | 7;  // no packet type has this number
    bad.ref().submit(packet);
    wake.wait(Condition::equal, 0, patience);
    CHECK(told == 1);
    CHECK(bad.ref().failed());
    CHECK_THROWS_AS(bad.ref().submit(barrier_and({})), QueueError);
    CHECK_THROWS_AS(bad.ref().throw_if_failed(), QueueError);
    CHECK_THROWS_WITH(bad.ref().throw_if_failed(),
                      Contains("HSA_STATUS_ERROR_INVALID_PACKET_FORMAT") && Contains(device.gpu.label()));

    const Signal done = Signal::create(1);
    good.ref().submit(tick(done));
    done.wait(Condition::equal, 0, patience);
    CHECK_FALSE(good.ref().failed());
}

TEST_CASE("a queue is destroyed with work on it", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal never = Signal::create(1);
    const hsa_signal_t dependency = never.native();
    {
        const Queue queue = Queue::create(device.gpu, {.packets = 64});
        for (int i = 0; i < 10; ++i) queue.ref().submit(barrier_and({&dependency, 1}));
    }
    CHECK(never.load() == 1);
}

TEST_CASE("rebuild: on a healthy queue, without room for another queue, and on a foreign queue", "[queue]") {
    NEEDS_DEVICE();
    const Device f;
    Queue queue = Queue::create(f.gpu, {.packets = 64, .priority = QueuePriority::high});
    const QueueRef ref = queue;
    for (int round = 0; round < 3; ++round) {
        const Signal done = Signal::create(1);
        ref.submit(barrier_and({}, done.native()));
        CHECK(ref.wait(done, Condition::less, 1, patience) == 0);
        queue.rebuild();
    }
    if (const kfdemu_control* emulator = kfdemu_find_control(); emulator && survives_refused_queue(f.driver)) {
        emulator->fail(KFDEMU_IOCTL_NUMBER(0x02), 1, KFDEMU_ALL, ENOMEM);
        CHECK_THROWS_AS(queue.rebuild(), Error);
        emulator->reset();
        const Signal done = Signal::create(1);
        ref.submit(barrier_and({}, done.native()));
        CHECK(ref.wait(done, Condition::less, 1, patience) == 0);
    }
    Queue view = Queue::view(ref.native(), f.gpu);
    CHECK_THROWS_AS(view.rebuild(), InvalidArgument);
}
