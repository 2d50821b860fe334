#include "tests/kfdemu/hsa/queue.hpp"

#include <algorithm>
#include <stdexcept>

namespace hsa_test {
namespace {

template <class Packet>
Packet barrier(hsa_packet_type_t type, std::initializer_list<hsa_signal_t> dependencies, hsa_signal_t completion,
               bool barrier_bit) {
    Packet packet{};
    packet.header = header(type, barrier_bit);
    std::copy_n(dependencies.begin(), std::min<std::size_t>(dependencies.size(), 5), packet.dep_signal);
    packet.completion_signal = completion;
    return packet;
}

void on_error(hsa_status_t status, hsa_queue_t*, void* data) { static_cast<QueueErrors*>(data)->record(status); }

}  // namespace

hsa_barrier_and_packet_t barrier_and(std::initializer_list<hsa_signal_t> dependencies, hsa_signal_t completion,
                                     bool barrier_bit) {
    return barrier<hsa_barrier_and_packet_t>(HSA_PACKET_TYPE_BARRIER_AND, dependencies, completion, barrier_bit);
}

hsa_barrier_or_packet_t barrier_or(std::initializer_list<hsa_signal_t> dependencies, hsa_signal_t completion,
                                   bool barrier_bit) {
    return barrier<hsa_barrier_or_packet_t>(HSA_PACKET_TYPE_BARRIER_OR, dependencies, completion, barrier_bit);
}

hsa_amd_barrier_value_packet_t barrier_value(hsa_signal_t signal, hsa_signal_condition32_t condition,
                                             hsa_signal_value_t value, hsa_signal_value_t mask,
                                             hsa_signal_t completion) {
    hsa_amd_barrier_value_packet_t packet{};
    packet.header.header = header(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    packet.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    packet.signal = signal;
    packet.cond = condition;
    packet.value = value;
    packet.mask = mask;
    packet.completion_signal = completion;
    return packet;
}

void QueueErrors::record(hsa_status_t status) {
    std::lock_guard lock{mutex_};
    statuses_.push_back(status);
    came_.notify_all();
}

std::vector<hsa_status_t> QueueErrors::all() const {
    std::lock_guard lock{mutex_};
    return statuses_;
}

hsa_status_t QueueErrors::wait(Duration timeout) const {
    std::unique_lock lock{mutex_};
    if (!came_.wait_for(lock, timeout, [&] { return !statuses_.empty(); })) return HSA_STATUS_SUCCESS;
    return statuses_.front();
}

Queue::Queue(const Gpu& gpu, std::uint32_t size_packets, hsa_queue_type32_t type) {
    HSA_CHECK(
        hsa_queue_create(gpu.agent, size_packets, type, on_error, errors_.get(), UINT32_MAX, UINT32_MAX, &queue_));
}

Queue::~Queue() {
    if (queue_) hsa_queue_destroy(queue_);
}

void Queue::destroy() { HSA_CHECK(hsa_queue_destroy(std::exchange(queue_, nullptr))); }

std::uint64_t Queue::reserve() {
    const std::uint64_t index = hsa_queue_add_write_index_scacq_screl(queue_, 1);
    if (!eventually([&] { return index - read_index() < queue_->size; }))
        throw std::runtime_error{"the ring stays full"};
    return index;
}

void Queue::publish(std::uint64_t index, const void* packet) {
    auto* slot = static_cast<std::byte*>(queue_->base_address) + index % queue_->size * 64;
    std::memcpy(slot + 4, static_cast<const std::byte*>(packet) + 4, 60);
    std::uint32_t first = 0;
    std::memcpy(&first, packet, 4);
    // Release: the packet processor that sees the header sees the packet (HSA Platform System Architecture,
    // "Packet submission").
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot), first, __ATOMIC_RELEASE);
}

void Queue::ring(std::uint64_t index) const {
    hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

bool Queue::drains(Duration timeout) {
    const Signal done;
    submit(barrier_and({}, done, true));
    return done.completed(timeout);
}

}  // namespace hsa_test
