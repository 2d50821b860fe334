// An AQL queue: packets in, work done, errors typed and kept.
//
//   auto queue = hsadrv::Queue::create(gpu);
//   queue.submit(hsadrv::kernel_dispatch({…}));
//   queue.throw_if_failed();
//
// Submitting makes no call into the runtime, allocates nothing and takes no lock: ring, indices and doorbell
// are cached. Thread safety: QueueRef's verbs from any number of threads. Memory ordering: see aql_ring.hpp;
// what was written before submit is visible to the packet processor. Errors: the packet processor's first
// error is kept and is sticky. Reserving throws it; release-on-error signals (below) are set so that nobody
// waits for work that will not come. Owns: Queue its queue; keeps the runtime alive. QueueRef borrows until
// its Queue is gone. Destroying a queue ends the work on it at once; wait for your signals first. Source:
// hsa.h, "Queues"; amd_hsa_queue.h and amd_hsa_signal.h for the cached pointers.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "hsadrv/agent.hpp"
#include "hsadrv/aql_ring.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/packet.hpp"

namespace hsadrv {

namespace detail {
struct QueueState;
}

struct QueueOptions {
    std::uint32_t packets = 1024;  ///< ring size, a power of two within the agent's limits
    /// Called once, on the runtime's thread, after the first error has been recorded: wake whoever waits. It
    /// must not throw, block or destroy the queue.
    std::function<void()> on_error = {};
};

class QueueRef {
  public:
    QueueRef() noexcept = default;
    explicit QueueRef(detail::QueueState* state) noexcept : state_(state) {}

    hsa_queue_t* native() const noexcept;
    AgentRef agent() const noexcept;
    std::uint32_t size() const noexcept;
    std::uint64_t read_index() const noexcept;
    std::uint64_t write_index() const noexcept;

    /// `count` consecutive slots, or nothing when they are not free now. Throws the sticky error;
    /// InvalidArgument when count is zero or more than the ring holds. Every slot must then be written and
    /// published.
    std::optional<std::uint64_t> try_reserve(std::uint32_t count = 1) const;
    /// Waits for room. Throws Timeout with the numbers at the deadline.
    std::uint64_t reserve(std::uint32_t count = 1, Deadline deadline = {}) const;
    void write(std::uint64_t index, const Packet& packet) const noexcept;
    void publish(std::uint64_t first, std::uint32_t count = 1) const noexcept;

    /// reserve, write and publish; one doorbell however many packets. Returns the first index.
    std::uint64_t submit(const Packet& packet, Deadline deadline = {}) const;
    std::uint64_t submit(std::span<const Packet> packets, Deadline deadline = {}) const;

    /// The packet last written at this index; for messages.
    Packet peek(std::uint64_t index) const noexcept;

    bool failed() const noexcept;
    /// Throws the sticky error as QueueError, naming the queue, the status and the packet.
    void throw_if_failed() const;

  private:
    detail::QueueState* state_ = nullptr;
};

class Queue {
  public:
    Queue() noexcept;
    /// Throws InvalidArgument for a size that the agent does not take, OutOfMemory when it has no queue left.
    static Queue create(AgentRef gpu, const QueueOptions& options = {});
    Queue(Queue&&) noexcept;
    Queue& operator=(Queue&&) noexcept;
    ~Queue();

    QueueRef ref() const noexcept { return QueueRef(state_.get()); }
    operator QueueRef() const noexcept { return ref(); }  // NOLINT: an owner is a ref too
    explicit operator bool() const noexcept { return state_ != nullptr; }

  private:
    std::unique_ptr<detail::QueueState> state_;
};

}  // namespace hsadrv
