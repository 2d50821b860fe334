// Queues: priority, masks of compute units, chains of barriers, try_ forms, and foreign queues.
#include <hsa/hsa_ext_amd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

void check_works(QueueRef queue) {
    const Signal done = Signal::create(1);
    queue.submit(barrier_and({}, done.native()), patience);
    CHECK(queue.wait(done, Condition::less, 1, patience) == 0);
}

int bits(const std::vector<std::uint32_t>& mask) {
    int count = 0;
    for (const std::uint32_t word : mask) count += std::popcount(word);
    return count;
}

}  // namespace

TEST_CASE("a queue is made with a priority, which can be changed", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    for (const auto priority : {QueuePriority::low, QueuePriority::normal, QueuePriority::high}) {
        const Queue queue = Queue::create(device.gpu, {.packets = 64, .priority = priority});
        check_works(queue);
        for (const auto next : {QueuePriority::high, QueuePriority::low, QueuePriority::normal})
            CHECK_NOTHROW(queue.ref().set_priority(next));
        check_works(queue);
    }
}

TEST_CASE("a mask of compute units is kept, clipped to the existing ones, and reset", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const auto units = static_cast<int>(device.gpu.compute_units());
    Queue queue = Queue::create(device.gpu, {.packets = 64, .cu_mask = {0x33}});  // pairs, which RDNA has
    CHECK(bits(queue.ref().cu_mask()) == 4);
    check_works(queue);
    queue.rebuild();
    CHECK(bits(queue.ref().cu_mask()) == 4);
    const std::uint32_t one_pair[] = {3};
    CHECK(bits(queue.ref().set_cu_mask(one_pair)) == 2);
    CHECK(bits(queue.ref().cu_mask()) == 2);
    queue.rebuild();
    CHECK(bits(queue.ref().cu_mask()) == 2);
    const std::vector<std::uint32_t> all(16, ~0u);
    CHECK(bits(queue.ref().set_cu_mask(all)) == units);
    CHECK(bits(queue.ref().set_cu_mask({})) == units);
    const std::uint32_t none[] = {0, 0};
    CHECK_THROWS_AS(queue.ref().set_cu_mask(none), InvalidArgument);
    CHECK_THROWS_AS(Queue::create(device.gpu, {.packets = 64, .cu_mask = {0}}), InvalidArgument);
    check_works(queue);
}

TEST_CASE("a wait for any number of signals: five per packet, complete with the last", "[queue][packet]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu, {.packets = 64});
    for (const std::size_t count : {0, 1, 4, 5, 6, 10, 11, 37}) {
        CAPTURE(count);
        std::vector<Signal> signals;
        std::vector<hsa_signal_t> natives;
        for (std::size_t i = 0; i < count; ++i) {
            signals.push_back(Signal::create(1));
            natives.push_back(signals.back().native());
        }
        const Signal done = Signal::create(1);
        const std::uint64_t before = queue.ref().write_index();
        const std::uint64_t last = queue.ref().submit_barrier(natives, done.native(), {}, patience);
        CHECK(last + 1 - before == barrier_chain_packets(count));
        // From the last to the first: no single signal is enough.
        for (std::size_t i = count; i-- > 0;) {
            if (i < 3 || i + 1 == count) CHECK_FALSE(done.try_wait(Condition::less, 1, 2ms));
            signals[i].store(0);
        }
        CHECK(queue.ref().wait(done, Condition::less, 1, patience) == 0);
    }
}

TEST_CASE("a chain of packets has fences at its ends, the barrier bit within and one completion", "[queue][packet]") {
    std::vector<hsa_signal_t> signals;
    for (std::uint64_t i = 1; i <= 11; ++i) signals.push_back({i * 64});
    const PacketOrder order{.barrier = false, .acquire = FenceScope::system, .release = FenceScope::agent};
    REQUIRE(barrier_chain_packets(signals.size()) == 3);
    const Packet first = barrier_chain_packet(signals, 0, {0x1000}, order),
                 middle = barrier_chain_packet(signals, 1, {0x1000}, order),
                 last = barrier_chain_packet(signals, 2, {0x1000}, order);
    using P = PacketOrder;
    CHECK(first.header() == packet_header(PacketType::barrier_and, P{false, FenceScope::system, FenceScope::none}));
    CHECK(middle.header() == packet_header(PacketType::barrier_and, P{true, FenceScope::none, FenceScope::none}));
    CHECK(last.header() == packet_header(PacketType::barrier_and, P{true, FenceScope::none, FenceScope::agent}));
    CHECK(first.as<hsa_barrier_and_packet_t>().completion_signal.handle == 0);
    CHECK(last.as<hsa_barrier_and_packet_t>().completion_signal.handle == 0x1000);
    CHECK(middle.as<hsa_barrier_and_packet_t>().dep_signal[0].handle == 6 * 64);
    CHECK(last.as<hsa_barrier_and_packet_t>().dep_signal[0].handle == 11 * 64);
    CHECK(last.as<hsa_barrier_and_packet_t>().dep_signal[1].handle == 0);
}

TEST_CASE("try_submit accepts packets that fit and refuses the rest", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    const std::uint32_t size = device.gpu.queue_min_packets();
    const Queue queue = Queue::create(device.gpu, {.packets = size});
    const Signal shut = Signal::create(1), done = Signal::create(0);
    const hsa_signal_t gate = shut.native();
    queue.ref().submit(barrier_and({&gate, 1}));
    const Packet tick = barrier_and({}, done.native());
    const std::vector<Packet> batch(size, tick);
    CHECK_FALSE(queue.ref().try_submit(batch));
    std::int64_t taken = 0;
    while (queue.ref().try_submit(tick)) ++taken;
    CHECK(taken >= static_cast<std::int64_t>(size) - 1);
    CHECK_THROWS_AS(queue.ref().try_submit(std::vector<Packet>(size + 1, tick)), InvalidArgument);
    shut.store(0);
    CHECK(queue.ref().wait(done, Condition::equal, -taken, patience) == -taken);
    // A packet may be complete before its slot is free.
    CHECK(eventually([&] { return queue.ref().try_submit(batch).has_value(); }));
    CHECK(queue.ref().wait(done, Condition::equal, -taken - size, patience) == -taken - size);
}

TEST_CASE("a foreign queue is adopted or viewed; its errors go to its creator", "[queue]") {
    NEEDS_DEVICE();
    const Device device;
    static std::atomic<int> told{0};
    told = 0;
    const auto theirs = [](hsa_status_t, hsa_queue_t*, void*) { ++told; };
    hsa_queue_t* native = nullptr;
    REQUIRE(hsa_queue_create(device.gpu.native(), 64, HSA_QUEUE_TYPE_MULTI, theirs, nullptr, UINT32_MAX, UINT32_MAX,
                             &native) == HSA_STATUS_SUCCESS);
    // First a packet of another producer.
    const Signal done = Signal::create(1);
    const auto packet = barrier_and({}, done.native()).as<hsa_barrier_and_packet_t>();
    const auto submit_natively = [&] {
        const std::uint64_t index = hsa_queue_add_write_index_screlease(native, 1);
        auto& slot = static_cast<hsa_barrier_and_packet_t*>(native->base_address)[index % native->size];
        // The header last: the packet processor reads it all the time.
        constexpr std::size_t header_bytes = sizeof packet.header;
        std::memcpy(reinterpret_cast<std::byte*>(&slot) + header_bytes,
                    reinterpret_cast<const std::byte*>(&packet) + header_bytes, sizeof packet - header_bytes);
        __atomic_store_n(&slot.header, packet.header, __ATOMIC_RELEASE);
        hsa_signal_store_screlease(native->doorbell_signal, static_cast<hsa_signal_value_t>(index));
    };
    submit_natively();
    {
        const Queue view = Queue::view(native, device.gpu);
        CHECK(view.ref().native() == native);
        CHECK(view.ref().agent() == device.gpu);
        CHECK_FALSE(view.ref().failure());
        for (int i = 0; i < 100; ++i) {
            check_works(view);
            done.store(1);
            submit_natively();
            CHECK(view.ref().wait(done, Condition::less, 1, patience) == 0);
        }
    }
    const Queue adopted = Queue::from_native(native, device.gpu);  // destroys it
    check_works(adopted);
    auto bad = packet;
    bad.header = 6;
    adopted.ref().submit(Packet::from(bad));
    while (told == 0) std::this_thread::sleep_for(1ms);
    CHECK_FALSE(adopted.ref().failed());
    const Signal never = Signal::create(1);
    CHECK_THROWS_AS(adopted.ref().wait(never, Condition::less, 1, 10ms), Timeout);
    CHECK_THROWS_AS(Queue::view(nullptr), InvalidArgument);
}

TEST_CASE("a viewed queue and its creator submit concurrently", "[queue][stress]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue maker = Queue::create(device.gpu, {.packets = 64});
    hsa_queue_t* native = nullptr;
    REQUIRE(hsa_queue_create(device.gpu.native(), 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX,
                             &native) == HSA_STATUS_SUCCESS);
    const Queue first = Queue::from_native(native, device.gpu), second = Queue::view(native, device.gpu);
    constexpr int each = 500;
    const Signal done = Signal::create(4 * each);
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, queue = t % 2 == 0 ? first.ref() : second.ref()] {
            for (int i = 0; i < each; ++i) try {
                    queue.submit(barrier_and({}, done.native()), patience);
                } catch (const std::exception&) {
                    ++failures;
                }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(first.ref().wait(done, Condition::equal, 0, patience) == 0);
}

TEST_CASE("the host serves a soft queue's packets through its doorbell signal", "[queue][packet]") {
    NEEDS_DEVICE();
    if (sanitizer) SKIP_BECAUSE("the runtime calls aligned_alloc with a size that the sanitizer refuses");
    const Device device;
    hsa_region_t region{0};
    for (const MemRegion& candidate : device.driver.cpus().front().regions())
        if (candidate.segment() == Segment::global && candidate.global_flags().fine_grained)
            region = candidate.native();
    REQUIRE(region.handle != 0);
    const Signal doorbell = Signal::create(-1);
    hsa_queue_t* native = nullptr;
    REQUIRE(hsa_soft_queue_create(region, 16, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH, doorbell.native(),
                                  &native) == HSA_STATUS_SUCCESS);
    const Queue queue = Queue::from_native(native, device.driver.cpus().front());
    auto* slots = static_cast<hsa_agent_dispatch_packet_t*>(native->base_address);
    for (std::uint32_t i = 0; i < native->size; ++i) slots[i].header = HSA_PACKET_TYPE_INVALID;

    constexpr int calls = 50;
    std::thread server([&] {
        for (std::uint64_t index = 0; index < calls; ++index) {
            if (!doorbell.try_wait(Condition::greater_equal, static_cast<std::int64_t>(index), patience)) return;
            auto& packet = slots[index % native->size];
            while ((__atomic_load_n(&packet.header, __ATOMIC_ACQUIRE) & 0xff) != HSA_PACKET_TYPE_AGENT_DISPATCH)
                std::this_thread::yield();
            if (packet.type == 0x8001)
                *static_cast<std::uint64_t*>(packet.return_address) = packet.arg[0] * packet.arg[1] + packet.arg[3];
            const hsa_signal_t completion = packet.completion_signal;
            __atomic_store_n(&packet.header, std::uint16_t{HSA_PACKET_TYPE_INVALID}, __ATOMIC_RELEASE);
            hsa_queue_store_read_index_screlease(native, index + 1);
            hsa_signal_subtract_screlease(completion, 1);
        }
    });
    std::array<std::uint64_t, calls> results{};
    const Signal done = Signal::create(calls);
    for (std::uint64_t i = 0; i < calls; ++i)
        queue.ref().submit(
            agent_dispatch(
                {.function = 0x8001, .arguments = {i, 3, 0, 1}, .result = &results[i], .completion = done.native()}),
            patience);
    CHECK(queue.ref().wait(done, Condition::less, 1, patience) == 0);
    server.join();
    for (std::uint64_t i = 0; i < calls; ++i) CHECK(results[i] == 3 * i + 1);
}
