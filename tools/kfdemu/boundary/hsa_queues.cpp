#include "tools/kfdemu/boundary/hsa_queues.hpp"

#include "tools/kfdemu/queues/advertised_slots.hpp"

namespace kfdemu {
namespace {

using MakeQueue = hsa::Status (*)(hsa::Handle agent, std::uint32_t packets, std::uint32_t type, const void* callback,
                                  void* data, std::uint32_t private_bytes, std::uint32_t group_bytes, void** queue);
MakeQueue next_make_queue = nullptr;

hsa::Status make_queue(hsa::Handle agent, std::uint32_t packets, std::uint32_t type, const void* callback, void* data,
                       std::uint32_t private_bytes, std::uint32_t group_bytes, void** queue) {
    TornRings::of_this_call = true;
    const auto status = next_make_queue(agent, packets, type, callback, data, private_bytes, group_bytes, queue);
    TornRings::of_this_call = false;
    return status;
}

}  // namespace

void wrap_queues(hsa::Table& table) {
    TornRings::of_every_call.store(false, std::memory_order_relaxed);
    hsa::wrap(table.core, hsa::kQueueCreate, make_queue, next_make_queue);
}

}  // namespace kfdemu
