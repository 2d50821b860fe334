// Agent dispatch: a soft queue whose packets a host thread serves, as in HSA Platform System Architecture
// Specification 1.2, "Agent dispatch packet"; the packets come from the host or after a kernel's work.
#include <thread>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

constexpr std::uint16_t kAdd = 0x8001, kStop = 0x8002;

hsa_region_t fine_region(const Machine& machine) {
    hsa_region_t found{0};
    const auto visit = [](hsa_region_t region, void* data) {
        hsa_region_segment_t segment{};
        std::uint32_t flags = 0;
        HSA_CHECK(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment));
        if (segment != HSA_REGION_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
        HSA_CHECK(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags));
        if (flags & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED) *static_cast<hsa_region_t*>(data) = region;
        return HSA_STATUS_SUCCESS;
    };
    HSA_CHECK(hsa_agent_iterate_regions(machine.cpu().agent, visit, &found));
    return found;
}

hsa_agent_dispatch_packet_t call(std::uint16_t type, std::uint64_t a, std::uint64_t b, void* result,
                                 hsa_signal_t completion) {
    hsa_agent_dispatch_packet_t packet{};
    packet.header = header(HSA_PACKET_TYPE_AGENT_DISPATCH);
    packet.type = type;
    packet.arg[0] = a;
    packet.arg[1] = b;
    packet.return_address = result;
    packet.completion_signal = completion;
    return packet;
}

/// Serves the queue in order until it is stopped, or no packet arrives in time.
void serve(hsa_queue_t* queue, const Signal& doorbell) {
    auto* ring = static_cast<hsa_agent_dispatch_packet_t*>(queue->base_address);
    for (std::uint64_t index = 0;; ++index) {
        const auto wanted = static_cast<hsa_signal_value_t>(index);
        if (!doorbell.wait(HSA_SIGNAL_CONDITION_GTE, wanted)) return;
        auto& packet = ring[index % queue->size];
        if (!eventually([&] {
                return (__atomic_load_n(&packet.header, __ATOMIC_ACQUIRE) & 0xff) == HSA_PACKET_TYPE_AGENT_DISPATCH;
            }))
            return;
        const bool stop = packet.type == kStop;
        if (packet.type == kAdd) *static_cast<std::uint64_t*>(packet.return_address) = packet.arg[0] + packet.arg[1];
        const hsa_signal_t completion = packet.completion_signal;
        __atomic_store_n(&packet.header, std::uint16_t{HSA_PACKET_TYPE_INVALID}, __ATOMIC_RELEASE);
        hsa_queue_store_read_index_screlease(queue, index + 1);
        hsa_signal_subtract_screlease(completion, 1);
        if (stop) return;
    }
}

}  // namespace

TEST_CASE("a thread of the host serves agent dispatch packets in step with a GPU", "[device][soft]") {
    NEEDS_GPUS(1);
    if (kSanitized) SKIP_BECAUSE("the runtime allocates such a queue in a way that AddressSanitizer refuses");
    Machine machine;
    Queue gpu_queue{machine.gpu()};
    const Signal doorbell{-1};
    hsa_queue_t* soft = nullptr;
    HSA_CHECK(hsa_soft_queue_create(fine_region(machine), 16, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH,
                                    doorbell, &soft));
    CHECK(soft->size == 16);
    CHECK(soft->features == HSA_QUEUE_FEATURE_AGENT_DISPATCH);
    for (std::uint32_t i = 0; i < soft->size; ++i)
        static_cast<hsa_agent_dispatch_packet_t*>(soft->base_address)[i].header = HSA_PACKET_TYPE_INVALID;
    std::thread server{[&] { serve(soft, doorbell); }};
    const auto send = [&](const hsa_agent_dispatch_packet_t& packet) {
        const std::uint64_t index = hsa_queue_add_write_index_scacq_screl(soft, 1);
        if (!eventually([&] { return index - hsa_queue_load_read_index_scacquire(soft) < soft->size; }))
            throw std::runtime_error{"the soft queue stays full"};
        auto* slot = static_cast<std::byte*>(soft->base_address) + index % soft->size * 64;
        std::memcpy(slot + 4, reinterpret_cast<const std::byte*>(&packet) + 4, 60);
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot), packet.header | std::uint32_t{packet.type} << 16,
                         __ATOMIC_RELEASE);
        hsa_signal_store_screlease(doorbell, static_cast<hsa_signal_value_t>(index));
    };
    // Three wraps of the ring; the GPU continues when the host's part is complete.
    std::vector<std::uint64_t> results(50, 0);
    for (std::uint64_t i = 0; i < results.size(); ++i) {
        const Signal served, after;
        gpu_queue.submit(barrier_and({served}, after));
        send(call(kAdd, i, 1000, &results[i], served));
        REQUIRE(after.completed());
        REQUIRE(results[i] == i + 1000);
    }
    const Signal stopped;
    send(call(kStop, 0, 0, nullptr, stopped));
    CHECK(stopped.completed());
    server.join();
    HSA_STATUS(hsa_queue_destroy(soft), HSA_STATUS_SUCCESS);
}
