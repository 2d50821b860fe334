// A queue whose errors are recorded, and the packets that go into it.
//
//     hsa_test::Queue queue{machine.gpu()};
//     queue.submit(hsa_test::barrier_and({dependency}, done));
//     CHECK(queue.wait_for_error() == HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
//
// Thread safety: submit() and reserve()/publish() from any thread if the queue is HSA_QUEUE_TYPE_MULTI;
// errors() from any.
#pragma once

#include <condition_variable>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/kfdemu/hsa/machine.hpp"

namespace hsa_test {

/// A packet header of this type, possibly not in hsa_packet_type_t, with system-scope fences.
constexpr std::uint16_t header(unsigned type, bool barrier_bit = false) {
    return static_cast<std::uint16_t>(type << HSA_PACKET_HEADER_TYPE |
                                      (barrier_bit ? 1 : 0) << HSA_PACKET_HEADER_BARRIER |
                                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

inline constexpr hsa_signal_t kNoSignal{0};

hsa_barrier_and_packet_t barrier_and(std::initializer_list<hsa_signal_t> dependencies,
                                     hsa_signal_t completion = kNoSignal, bool barrier_bit = false);
hsa_barrier_or_packet_t barrier_or(std::initializer_list<hsa_signal_t> dependencies,
                                   hsa_signal_t completion = kNoSignal, bool barrier_bit = false);
hsa_amd_barrier_value_packet_t barrier_value(hsa_signal_t signal, hsa_signal_condition32_t condition,
                                             hsa_signal_value_t value, hsa_signal_value_t mask,
                                             hsa_signal_t completion = kNoSignal);

/// The arguments of a queue's callback.
class QueueErrors {
  public:
    void record(hsa_status_t status);
    std::vector<hsa_status_t> all() const;
    /// The first error, or HSA_STATUS_SUCCESS if none came in time.
    hsa_status_t wait(Duration timeout = kDeadline) const;

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable came_;
    std::vector<hsa_status_t> statuses_;
};

class Queue {
  public:
    explicit Queue(const Gpu& gpu, std::uint32_t size_packets = 64, hsa_queue_type32_t type = HSA_QUEUE_TYPE_MULTI);
    ~Queue();
    Queue(Queue&& other) noexcept : queue_{std::exchange(other.queue_, nullptr)}, errors_{std::move(other.errors_)} {}
    Queue& operator=(Queue&&) = delete;

    hsa_queue_t* get() const { return queue_; }
    /// Destroys it now: work in flight ends.
    void destroy();

    /// Writes one packet of 64 bytes, its header last, and rings. Waits while the ring is full; its index.
    template <class Packet>
    std::uint64_t submit(const Packet& packet) {
        static_assert(sizeof(Packet) == 64);
        const std::uint64_t index = reserve();
        publish(index, &packet);
        ring(index);
        return index;
    }
    /// The next place in the ring, once it is free; throws when the ring stays full.
    std::uint64_t reserve();
    void publish(std::uint64_t index, const void* packet);
    void ring(std::uint64_t index) const;

    std::uint64_t read_index() const { return hsa_queue_load_read_index_scacquire(queue_); }
    std::uint64_t write_index() const { return hsa_queue_load_write_index_scacquire(queue_); }
    const QueueErrors& errors() const { return *errors_; }
    hsa_status_t wait_for_error(Duration timeout = kDeadline) const { return errors_->wait(timeout); }
    /// Whether a barrier packet sent now completes: the queue lives, and all before it has finished.
    bool drains(Duration timeout = kDeadline);

  private:
    hsa_queue_t* queue_ = nullptr;
    std::unique_ptr<QueueErrors> errors_ = std::make_unique<QueueErrors>();
};

}  // namespace hsa_test
