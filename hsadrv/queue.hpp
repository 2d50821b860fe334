// An AQL queue: submits packets to an agent and keeps the first error, typed.
//
//   auto queue = hsadrv::Queue::create(gpu);
//   queue.ref().submit(hsadrv::kernel_dispatch({…}));
//   queue.ref().throw_if_failed();
//
// Submitting makes no runtime call, allocates nothing and takes no lock: ring, indices and doorbell are cached. Thread
// safety: QueueRef's functions, from any number of threads. Memory ordering: see aql_ring.hpp; the packet processor
// sees what was written before submit. Errors: the packet processor's first error is sticky: calls that reserve slots
// or wait for room throw it. It wakes threads in wait() and those that wait for failure() beside other signals.
// rebuild() makes the queue usable again. Owns: Queue its queue, unless it is a view; keeps the runtime alive. QueueRef
// borrows until its Queue is destroyed. Destroying a queue ends its work at once; wait for your signals first. A queue
// may be destroyed in its own error callback. Source: hsa.h, "Queues"; amd_hsa_queue.h and amd_hsa_signal.h for the
// cached pointers.
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
    /// Called once, on the runtime's thread, after the first error has been recorded: wake the waiters here. It must
    /// not block. It may destroy the queue if no other thread is in a call on it: the submit() of the bad packet may
    /// not have returned yet. What it throws is kept and reported with the error.
    std::function<void()> on_error = {};
    QueuePriority priority = QueuePriority::normal;
    /// One bit per compute unit on which the queue's kernels may run; empty: all of them.
    std::vector<std::uint32_t> cu_mask = {};
};

class QueueRef {
  public:
    QueueRef() noexcept = default;
    explicit QueueRef(detail::QueueState* state) noexcept : state_(state) {}

    hsa_queue_t* native() const noexcept;
    AgentRef agent() const noexcept;
    std::uint32_t size() const noexcept;
    /// 0 in a forked child.
    std::uint64_t read_index() const noexcept;
    std::uint64_t write_index() const noexcept;

    /// Reserves `count` consecutive slots and returns the first; std::nullopt if they are not free now. Throws the
    /// sticky error; InvalidArgument if count is zero or more than the ring holds. Every reserved slot must be written
    /// and published.
    std::optional<std::uint64_t> try_reserve(std::uint32_t count = 1) const;
    /// Waits for room. Throws Timeout with the numbers at the deadline.
    std::uint64_t reserve(std::uint32_t count = 1, Deadline deadline = {}) const;
    void write(std::uint64_t index, const Packet& packet) const noexcept;
    void publish(std::uint64_t first, std::uint32_t count = 1) const noexcept;

    /// reserve, write and publish, with one doorbell for the batch. Returns the first index. An empty batch throws like
    /// reserve(0).
    std::uint64_t submit(const Packet& packet, Deadline deadline = {}) const;
    std::uint64_t submit(std::span<const Packet> packets, Deadline deadline = {}) const;
    /// The same; std::nullopt if the slots are not free now.
    std::optional<std::uint64_t> try_submit(const Packet& packet) const;
    std::optional<std::uint64_t> try_submit(std::span<const Packet> packets) const;

    /// Enqueues a wait for all of the signals, five per packet. Returns the index of the last packet, which completes
    /// last.
    std::uint64_t submit_barrier(std::span<const hsa_signal_t> dependencies, hsa_signal_t completion = {0},
                                 PacketOrder order = {}, Deadline deadline = {}) const;

    /// Waits for a signal that this queue's work changes. Throws the queue's error if the queue stops first;
    /// MemoryFault if its GPU had a fault since the queue was created and the signal no longer changes; Timeout with
    /// the queue's state.
    std::int64_t wait(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline = {}) const;
    /// A signal that is nonzero once the queue has failed. Null for a queue created elsewhere.
    SignalRef failure() const noexcept;

    /// Internal: throws the sticky error as that of a stream on this queue.
    void throw_if_failed(const std::string& stream) const;
    /// The ring itself, for callers that write packets in place, such as the launch path of streams. It reports no
    /// errors: check failed(), or wait with wait().
    AqlRing& ring() const noexcept;

    /// The packet last written at this index; for messages.
    Packet peek(std::uint64_t index) const noexcept;

    bool failed() const noexcept;
    /// Throws the sticky error as QueueError (or MemoryFault), naming the queue, the status and the packet.
    void throw_if_failed() const;

    /// Throws Error for a queue that has stopped.
    void set_priority(QueuePriority priority) const;
    /// The priority set last, at creation or later; normal for a queue created elsewhere, whose priority the runtime
    /// does not report.
    QueuePriority priority() const noexcept;
    /// Sets the compute units that kernels may run on from now on; an empty mask allows all. Returns the mask in force,
    /// without bits that the GPU or HSA_CU_MASK does not have. Throws InvalidArgument for a mask that leaves none.
    std::vector<std::uint32_t> set_cu_mask(std::span<const std::uint32_t> mask) const;
    std::vector<std::uint32_t> cu_mask() const;

  private:
    detail::QueueState* state_ = nullptr;
};

class Queue {
  public:
    Queue() noexcept;
    /// Throws InvalidArgument for a size that the agent does not accept, OutOfMemory if the agent has no queue left.
    static Queue create(AgentRef gpu, const QueueOptions& options = {});
    /// Takes ownership of a queue created elsewhere, by hsa_queue_create or hsa_soft_queue_create. Other code may still
    /// use it through the runtime's functions. Its errors are passed to the callback that it was created with: failed()
    /// stays false. Throws InvalidArgument for null.
    static Queue from_native(hsa_queue_t* native, AgentRef agent = {});
    /// The same without ownership: the owner destroys the queue, after this object.
    static Queue view(hsa_queue_t* native, AgentRef agent = {});
    Queue(Queue&&) noexcept;
    Queue& operator=(Queue&&) noexcept;
    ~Queue();

    QueueRef ref() const noexcept { return QueueRef(state_.get()); }
    operator QueueRef() const noexcept { return ref(); }  // NOLINT: an owner is a ref too
    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Replaces the ring by a new one with the same options, after an error or when work never ends. Packets in the old
    /// ring are lost, as when a queue is destroyed; the error is cleared, refs stay valid, indices start at 0. No other
    /// thread may use the queue during the call. If no new ring can be created, nothing changes. Throws OutOfMemory;
    /// DeviceLost after a memory fault of its GPU; InvalidArgument for a queue created elsewhere.
    void rebuild();

  private:
    static Queue around(hsa_queue_t* native, AgentRef agent, bool owned, const char* call);

    std::unique_ptr<detail::QueueState, detail::QueueStateDeleter> state_;
};

}  // namespace hsadrv
