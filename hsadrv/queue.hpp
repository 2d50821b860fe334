// An AQL queue: packets in, work done, errors typed and kept.
//
//   auto queue = hsadrv::Queue::create(gpu);
//   queue.ref().submit(hsadrv::kernel_dispatch({…}));
//   queue.ref().throw_if_failed();
//
// Submitting makes no call into the runtime, allocates nothing and takes no lock: ring, indices and doorbell
// are cached. Thread safety: QueueRef's verbs from any number of threads. Memory ordering: see aql_ring.hpp;
// what was written before submit is visible to the packet processor. Errors: the packet processor's first
// error is kept and is sticky: whoever reserves or waits for room has it thrown, and whoever waits through wait(), or
// for failure() beside other signals, wakes. rebuild() makes the queue usable again. Owns: Queue its queue, unless it
// is only viewed; keeps the runtime alive. QueueRef borrows until its Queue is gone. Destroying a queue ends the work
// on it at once; wait for your signals first. A queue may be destroyed in its own error callback. Source:
// hsa.h, "Queues"; amd_hsa_queue.h and amd_hsa_signal.h for the cached pointers.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/aql_ring.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv {

namespace detail {
struct QueueState;
struct QueueStateDeleter {
    void operator()(QueueState* state) const noexcept;
};
}  // namespace detail

enum class QueuePriority { low, normal, high };

struct QueueOptions {
    std::uint32_t packets = 1024;  ///< ring size, a power of two within the agent's limits
    /// Called once, on the runtime's thread, after the first error has been recorded: wake whoever waits. It
    /// must not block. It may destroy the queue, when no other thread is in a call of it: the submit() of the bad
    /// packet may not have returned yet. What it throws is kept, and told with the error.
    std::function<void()> on_error = {};
    QueuePriority priority = QueuePriority::normal;
    /// One bit a compute unit on which the queue's kernels may run; empty: all of them.
    std::vector<std::uint32_t> cu_mask = {};
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
    /// InvalidArgument when count is zero or more than the ring holds. Every slot must then be written and published.
    std::optional<std::uint64_t> try_reserve(std::uint32_t count = 1) const;
    /// Waits for room. Throws Timeout with the numbers at the deadline.
    std::uint64_t reserve(std::uint32_t count = 1, Deadline deadline = {}) const;
    void write(std::uint64_t index, const Packet& packet) const noexcept;
    void publish(std::uint64_t first, std::uint32_t count = 1) const noexcept;

    /// reserve, write and publish; one doorbell however many packets. Returns the first index. A batch of no packets
    /// is refused like reserve(0).
    std::uint64_t submit(const Packet& packet, Deadline deadline = {}) const;
    std::uint64_t submit(std::span<const Packet> packets, Deadline deadline = {}) const;
    /// The same; nothing when the slots are not free now.
    std::optional<std::uint64_t> try_submit(const Packet& packet) const;
    std::optional<std::uint64_t> try_submit(std::span<const Packet> packets) const;

    /// A wait for all of the signals, five a packet; complete when the last one is. Returns the last packet's index.
    std::uint64_t submit_barrier(std::span<const hsa_signal_t> dependencies, hsa_signal_t completion = {0},
                                 PacketOrder order = {}, Deadline deadline = {}) const;

    /// Waits for a signal that this queue's work changes. Throws the queue's error if it stops first; MemoryFault if
    /// its GPU had a fault since the queue was made and the signal does not change any more; Timeout with the queue's
    /// situation.
    std::int64_t wait(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline = {}) const;
    /// Not zero as soon as the queue has failed. No signal for a queue made elsewhere.
    SignalRef failure() const noexcept;

    /// Internal: the sticky error, as that of a stream on this queue.
    void throw_if_failed(const std::string& stream) const;
    /// The ring itself, for callers that write packets in place, as the launch path of streams does. It reports no
    /// errors: check failed(), or wait through wait().
    AqlRing& ring() const noexcept;

    /// The packet last written at this index; for messages.
    Packet peek(std::uint64_t index) const noexcept;

    bool failed() const noexcept;
    /// Throws the sticky error as QueueError (or MemoryFault), naming the queue, the status and the packet.
    void throw_if_failed() const;

    /// Throws Error for a queue that has stopped.
    void set_priority(QueuePriority priority) const;
    /// What it was made with or set to last; normal for a queue made elsewhere, which the runtime does not tell.
    QueuePriority priority() const noexcept;
    /// Which compute units kernels may run on from now on; an empty mask allows all. Returns the mask that is in
    /// force: bits that the GPU or HSA_CU_MASK does not have are gone. Throws InvalidArgument for one that leaves none.
    std::vector<std::uint32_t> set_cu_mask(std::span<const std::uint32_t> mask) const;
    std::vector<std::uint32_t> cu_mask() const;

  private:
    detail::QueueState* state_ = nullptr;
};

class Queue {
  public:
    Queue() noexcept;
    /// Throws InvalidArgument for a size that the agent does not take, OutOfMemory when it has no queue left.
    static Queue create(AgentRef gpu, const QueueOptions& options = {});
    /// Adopts a queue that was made elsewhere, by hsa_queue_create or hsa_soft_queue_create, and destroys it in the
    /// end. Others may go on using it through the runtime's functions. Its errors go to the callback that it was made
    /// with: failed() stays false.
    /// Throws InvalidArgument for null.
    static Queue from_native(hsa_queue_t* native, AgentRef agent = {});
    /// The same, and leaves it to its owner, who destroys it after this.
    static Queue view(hsa_queue_t* native, AgentRef agent = {});
    Queue(Queue&&) noexcept;
    Queue& operator=(Queue&&) noexcept;
    ~Queue();

    QueueRef ref() const noexcept { return QueueRef(state_.get()); }
    operator QueueRef() const noexcept { return ref(); }  // NOLINT: an owner is a ref too
    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// After an error, or with work that never ends: a fresh ring under the same object, with the same options. What
    /// was in the old one is gone, as when a queue is destroyed; the error is forgotten, refs stay valid, indices
    /// begin at 0. Nobody may use the queue meanwhile. If no fresh one can be had, nothing has changed. Throws
    /// OutOfMemory; DeviceLost after a memory fault of its GPU; InvalidArgument for a queue made elsewhere.
    void rebuild();

  private:
    static Queue around(hsa_queue_t* native, AgentRef agent, bool owned, const char* call);

    std::unique_ptr<detail::QueueState, detail::QueueStateDeleter> state_;
};

}  // namespace hsadrv
