#include "tools/kfdemu/boundary/hsa_queues.hpp"

#include <cstring>

#include "tools/kfdemu/queues/advertised_slots.hpp"

namespace kfdemu {
namespace {

using MakeQueue = hsa::Status (*)(hsa::Handle agent, std::uint32_t packets, std::uint32_t type, const void* callback,
                                  void* data, std::uint32_t private_bytes, std::uint32_t group_bytes, void** queue);
MakeQueue next_make_queue = nullptr;
constexpr std::size_t kBaseAddress = 8;  // in hsa_queue_t

hsa::Status make_queue(hsa::Handle agent, std::uint32_t packets, std::uint32_t type, const void* callback, void* data,
                       std::uint32_t private_bytes, std::uint32_t group_bytes, void** queue) {
    const auto status = next_make_queue(agent, packets, type, callback, data, private_bytes, group_bytes, queue);
    if (status == hsa::kSuccess) {
        std::uint64_t ring_va = 0;
        std::memcpy(&ring_va, static_cast<const char*>(*queue) + kBaseAddress, sizeof ring_va);
        TornRings::returned(ring_va);
    }
    return status;
}

}  // namespace

void wrap_queues(hsa::Table& table) {
    TornRings::only_those_returned();
    hsa::wrap(table.core, hsa::kQueueCreate, make_queue, next_make_queue);
}

}  // namespace kfdemu
