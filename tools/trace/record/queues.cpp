#include "tools/trace/record/queues.hpp"

#include <algorithm>
#include <utility>

namespace trace {
namespace {

std::uint8_t type_of(const hsa_kernel_dispatch_packet_t& packet) {
    return static_cast<std::uint8_t>(__atomic_load_n(&packet.header, __ATOMIC_ACQUIRE) >> HSA_PACKET_HEADER_TYPE);
}

/// Of a packet that the GPU has taken, and whose header is invalid again.
bool is_dispatch(const hsa_kernel_dispatch_packet_t& packet) {
    return packet.kernel_object != 0 && packet.setup >= 1 && packet.setup <= 3 && packet.workgroup_size_x != 0;
}

std::uint32_t groups(std::uint32_t grid, std::uint32_t workgroup) {
    return workgroup == 0 ? 0 : grid / workgroup + (grid % workgroup != 0);
}

}  // namespace

void Queues::add(hsa_queue_t* queue, hsa_agent_t agent) {
    const auto gpu = agents_.gpu(agent);
    if (!gpu) return;
    auto seen = std::make_shared<Seen>();
    seen->queue = queue;
    seen->agent = agent;
    seen->gpu = *gpu;
    seen->name = std::make_shared<const std::string>("queue " + std::to_string(queue->id));
    seen->next = runtime_.write_index(queue);
    const std::unique_lock lock{mutex_};
    by_doorbell_[queue->doorbell_signal.handle] = std::move(seen);
}

void Queues::remove(hsa_queue_t* queue) {
    const std::unique_lock lock{mutex_};
    by_doorbell_.erase(queue->doorbell_signal.handle);
}

bool Queues::rings(hsa_signal_t doorbell, hsa_signal_value_t value, Enqueued& enqueued) {
    std::shared_ptr<Seen> seen;
    {
        const std::shared_lock lock{mutex_};
        const auto found = by_doorbell_.find(doorbell.handle);
        if (found == by_doorbell_.end()) return false;
        seen = found->second;
    }
    const std::lock_guard lock{seen->mutex};
    const std::uint64_t end = std::min(static_cast<std::uint64_t>(value) + 1, runtime_.write_index(seen->queue));
    for (const std::uint64_t index : std::exchange(seen->late, {})) look(*seen, index, false, enqueued);
    for (; seen->next < end; ++seen->next) look(*seen, seen->next, true, enqueued);
    return true;
}

PendingItem Queues::item_of(const Seen& seen, const hsa_kernel_dispatch_packet_t& packet) const {
    PendingItem item;
    item.id = Recorder::active() ? Recorder::active()->new_work_id() : 0;
    const KernelFacts facts = kernels_.find(packet.kernel_object);
    item.name = facts.name;
    item.queue = seen.name;
    item.gpu = seen.gpu;
    item.agent = seen.agent;
    item.launch.target = agents_.target(seen.gpu);
    item.launch.workgroup = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
    item.launch.groups = {groups(packet.grid_size_x, packet.workgroup_size_x),
                          groups(packet.grid_size_y, packet.workgroup_size_y),
                          groups(packet.grid_size_z, packet.workgroup_size_z)};
    item.launch.lds_bytes = packet.group_segment_size;
    item.launch.scratch_bytes = packet.private_segment_size;
    item.launch.kernarg_bytes = facts.kernarg_bytes;
    item.enqueued_ns = now_ns();
    return item;
}

void Queues::look(Seen& seen, std::uint64_t index, bool may_change, Enqueued& enqueued) {
    const bool consumed = runtime_.read_index(seen.queue) > index;
    if (consumed && index + seen.queue->size < runtime_.write_index(seen.queue))
        return;  // another packet's slot by now
    auto& packet = static_cast<hsa_kernel_dispatch_packet_t*>(seen.queue->base_address)[index & (seen.queue->size - 1)];
    const std::uint8_t type = type_of(packet);
    if (type == HSA_PACKET_TYPE_INVALID && !consumed) return seen.late.push_back(index);
    const bool is_kernel = type == HSA_PACKET_TYPE_KERNEL_DISPATCH || (consumed && is_dispatch(packet));
    const bool in_time = may_change && !consumed && type != HSA_PACKET_TYPE_INVALID;
    hsa_signal_t signal = packet.completion_signal;
    if (!in_time && signal.handle != 0)  // it may have counted the signal already
        pending_.give_up(signal, "unknown: packets of several threads count one signal");
    if (!is_kernel) {
        if (in_time && signal.handle != 0) pending_.add_uncounted(signal);
        return;
    }
    PendingItem item = item_of(seen, packet);
    enqueued.ids.push_back(item.id);
    if (!enqueued.first) enqueued.first = item.name;
    if (in_time && signal.handle != 0 && pending_.is_ours(signal)) {
        pending_.give_up(signal, "moved from a queue that died");
    } else if (in_time && signal.handle == 0) {
        signal = pending_.own_signal();
        __atomic_store_n(&packet.completion_signal.handle, signal.handle, __ATOMIC_RELEASE);
    }
    if (!in_time || signal.handle == 0) return pending_.write_untimed(item, "unknown: another thread enqueued it");
    pending_.add(signal, std::move(item));
}

}  // namespace trace
