// Stalled queues, corrupted packets, GPU resets; and the effect of priorities and CU masks.
#include <algorithm>
#include <set>
#include <thread>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

TEST_CASE("a stalled queue takes no packet until it is released", "[control][queues]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Queue stalled{machine.gpu()}, other{machine.gpu()};
    const void* ring = GENERATE(false, true) ? KFDEMU_ALL_COMPUTE_QUEUES : stalled.get()->base_address;
    REQUIRE(control->stall_queue(ring, 1) == 0);
    Signal done;
    stalled.submit(barrier_and({}, done));
    CHECK_FALSE(done.completed(50ms));
    if (ring != KFDEMU_ALL_COMPUTE_QUEUES) CHECK(other.drains());
    REQUIRE(control->stall_queue(ring, 0) == 0);
    CHECK(done.completed());
}

TEST_CASE("stalled copy engines copy when they are released", "[control][queues]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Memory device{machine.gpu().coarse, 4096, machine.agents()}, host{machine.cpu().fine, 4096, machine.agents()};
    host.as<std::uint32_t>()[3] = 99;
    Signal warm, done;
    const auto copy = [&](hsa_signal_t signal) {
        HSA_CHECK(hsa_amd_memory_async_copy(device.data(), machine.gpu().agent, host.data(), machine.cpu().agent, 4096,
                                            0, nullptr, signal));
    };
    copy(warm);
    CHECK(warm.completed());
    REQUIRE(control->stall_queue(KFDEMU_ALL_SDMA_QUEUES, 1) == 0);
    copy(done);
    CHECK_FALSE(done.completed(50ms));
    REQUIRE(control->stall_queue(KFDEMU_ALL_SDMA_QUEUES, 0) == 0);
    CHECK(done.completed());
}

TEST_CASE("a corrupted packet stops its queue, and the ring keeps its contents", "[control][queues]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Queue queue{machine.gpu()}, other{machine.gpu()};
    Executable code{machine.gpu(), "order"};
    Memory out{machine.cpu().fine, 4096, machine.agents()};
    const std::uint8_t reserved_type = 9;
    const std::uint64_t no_kernel = 0;

    SECTION("its type, the third packet from now") {
        REQUIRE(control->break_packet(queue.get()->base_address, 3, 0, &reserved_type, 1) == 0);
        Signal first, second, third;
        queue.submit(barrier_and({}, first));
        queue.submit(barrier_and({}, second));
        queue.submit(barrier_and({}, third));
        CHECK(first.completed());
        CHECK(second.completed());
        CHECK(describe(queue.wait_for_error()) == describe(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT));
        CHECK(third.load() == 1);
        CHECK(queue.read_index() == 2);
        const auto* ring = static_cast<const std::uint16_t*>(queue.get()->base_address);
        CHECK((ring[2 * 32] & 0xff) == HSA_PACKET_TYPE_BARRIER_AND);
    }
    SECTION("its kernel object") {
        constexpr auto at = offsetof(hsa_kernel_dispatch_packet_t, kernel_object);
        REQUIRE(control->break_packet(KFDEMU_ALL_COMPUTE_QUEUES, 1, at, &no_kernel, 8) == 0);
        Launch launched = launch(machine, queue, code.kernel("place"), line(64), out.data());
        CHECK(describe(queue.wait_for_error()) == describe(HSA_STATUS_ERROR_INVALID_CODE_OBJECT));
        CHECK(launched.done.load() == 1);
    }
    CHECK(other.drains());
    CHECK(control.counters().injected > 0);
}

TEST_CASE("a reset stops all queues of its GPU", "[control][queues]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Signal done;
    {
        Queue queue{machine.gpu()};
        REQUIRE(control->reset_gpu(0, 0) == 0);
        queue.submit(barrier_and({}, done));
        CHECK_FALSE(done.completed(50ms));
    }
    Queue made_after{machine.gpu()};
    CHECK(made_after.drains());
}

TEST_CASE("work of a queue with high priority overtakes", "[queues][priority]") {
    NEEDS_GPUS(1);
    Machine machine;
    Executable code{machine.gpu(), "order"};
    constexpr std::uint32_t kLowGroups = 1000, kHighGroups = 40;
    Memory words{machine.cpu().fine, (1 + kLowGroups + kHighGroups) * 4, machine.agents()};
    auto* word = words.as<std::uint32_t>();
    std::fill_n(word, 1 + kLowGroups + kHighGroups, 0u);
    Queue low{machine.gpu()}, high{machine.gpu()};
    HSA_CHECK(hsa_amd_queue_set_priority(low.get(), HSA_AMD_QUEUE_PRIORITY_LOW));
    HSA_CHECK(hsa_amd_queue_set_priority(high.get(), HSA_AMD_QUEUE_PRIORITY_HIGH));
    // Both together, or the first may be complete before the second is submitted.
    const Signal go;
    for (Queue* queue : {&low, &high}) queue->submit(barrier_and({go}));
    Shape low_shape = line(kLowGroups * 64), high_shape = line(kHighGroups * 64);
    low_shape.barrier_bit = high_shape.barrier_bit = true;
    const Kernel work = code.kernel("work_then_ticket");
    Launch slow = launch(machine, low, work, low_shape, word, word + 1, 5'000u);
    Launch fast = launch(machine, high, work, high_shape, word, word + 1 + kLowGroups, 5'000u);
    go.store(0);
    CHECK(fast.completed());
    CHECK(slow.completed());
    const std::uint32_t last_high = *std::max_element(word + 1 + kLowGroups, word + 1 + kLowGroups + kHighGroups);
    const std::uint32_t last_low = *std::max_element(word + 1, word + 1 + kLowGroups);
    CHECK(last_high < last_low);
}

TEST_CASE("a CU mask keeps a queue's work on its compute units", "[queues][cu-mask]") {
    NEEDS_GPUS(1);
    Machine machine;
    Executable code{machine.gpu(), "order"};
    constexpr std::uint32_t kGroups = 256;
    Memory out{machine.cpu().fine, kGroups * 4, machine.agents()};
    Queue queue{machine.gpu()};
    const auto places = [&] {
        run(machine, queue, code.kernel("place"), line(kGroups * 64), out.data());
        const auto* units = out.as<std::uint32_t>();
        return std::set<std::uint32_t>(units, units + kGroups).size();
    };
    const std::size_t all = places();
    CHECK(all > 16);
    const std::uint32_t mask[2] = {0x0000ffff, 0};
    HSA_CHECK(hsa_amd_queue_cu_set_mask(queue.get(), 64, mask));
    const bool rdna = machine.gpu().wavefront_size == 32;  // a place has two units
    CHECK(places() == (rdna ? 8 : 16));
    HSA_CHECK(hsa_amd_queue_cu_set_mask(queue.get(), 0, nullptr));
    CHECK(places() == all);
}
