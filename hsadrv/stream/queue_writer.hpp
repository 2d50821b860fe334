// Internal: writes a stream's packets to its hardware queue, waits for them, and changes the queue when that stops.
//
//   PacketRecord record{.kind = PacketRecord::Kind::event, …};
//   const std::uint64_t count = writer.put_counted(barrier_and(…), std::move(record), deadline, call);
//   writer.wait({.epochs = count}, deadline, call);
//
// Invariants: a counted packet is in the timeline before it is in the ring, and a packet that is not a single kernel is
// in the log. Packets move to another queue only while the thread that holds the mutex waits (parking.hpp) or is the
// thread that moves them.
//
// Thread safety: the stream's mutex guards it, except lock(). Borrows: the stream and its lane.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/stream/completion.hpp"
#include "hsadrv/stream/launch_lane.hpp"
#include "hsadrv/stream/packet_log.hpp"
#include "hsadrv/stream/parking.hpp"
#include "hsadrv/stream/queue_pool.hpp"

namespace hsadrv::detail {

/// For packets that only order: copies provide their own visibility, and the kernels around them acquire and release at
/// system scope.
inline constexpr PacketOrder ordering_only{.barrier = true, .acquire = FenceScope::none, .release = FenceScope::none};

class QueueWriter {
  public:
    /// At most `packets` are in flight.
    QueueWriter(StreamCore& stream, LaunchLane& lane, std::shared_ptr<Timeline> timeline,
                std::shared_ptr<SharedQueue> queue, std::uint32_t packets);

    const std::shared_ptr<SharedQueue>& queue() const noexcept { return queue_; }
    /// Any thread. A queue that was left is released when the stream is next used.
    QueueRef queue_ref() const noexcept { return queue_ref_.load(std::memory_order_acquire); }
    PacketLog& log() noexcept { return log_; }
    const PacketLog& log() const noexcept { return log_; }
    Parking& parking() noexcept { return parking_; }

    std::unique_lock<LaneMutex> lock(Deadline deadline, const char* call) const;
    std::unique_lock<LaneMutex> try_lock() const { return std::unique_lock(lane_.mutex, std::try_to_lock); }

    /// A packet that is not counted.
    void put(const Packet& packet, PacketRecord&& record, Deadline deadline, const char* call);
    /// Returns the count at which it is complete.
    std::uint64_t put_counted(const Packet& packet, Deadline deadline, const char* call);
    std::uint64_t put_counted(const Packet& packet, PacketRecord&& record, Deadline deadline, const char* call);
    /// Several packets that share one count, reached with the last. Enqueues all of them or none.
    std::uint64_t put_batch(std::span<const Packet> packets, const Packet& last, PacketRecord&& record,
                            Deadline deadline, const char* call);

    /// Whether the caller holds the mutex while it waits.
    enum class Lock { held, free };
    /// Returns when the completion is reached. Throws the failure, or Timeout naming the call.
    void wait(const Completion& completion, Deadline deadline, const char* call, Lock lock = Lock::held);
    /// Waits up to 20 ms for one more packet to complete; the caller then checks for room again.
    void wait_for_progress(Deadline deadline, const char* call);
    /// Called by waiters: some failures raise no signal.
    void poll(Lock lock) noexcept;
    /// "1 of 3 packets complete, the first incomplete one is kernel scale"
    std::string situation() const;

    /// Before the stream enters that queue: applies the settings of the previous one.
    void make_ready_for(const SharedQueue& queue) const;
    /// Moves to a queue that the stream has entered, with the packets that the log lists; returns the previous queue.
    std::shared_ptr<SharedQueue> change_queue(const std::shared_ptr<SharedQueue>& fresh) noexcept;
    /// From here on devices write timestamps to the packets' own signals.
    void time_packets();
    /// No packet of the stream runs after this.
    void drop_queue() noexcept { queue_.reset(); }

  private:
    std::uint64_t reserve(std::uint32_t count, Deadline deadline, const char* call);
    void wait_for_turn(Deadline deadline, const char* call);
    /// Records the slot of the next counted packet, or of the first of `packets`.
    std::uint64_t count_packets(std::uint64_t slot, std::uint32_t packets = 1) noexcept;
    /// Returns when the stream is on a running queue.
    void follow_queue(Deadline deadline, const char* call);
    void set_queue(std::shared_ptr<SharedQueue> queue) noexcept;

    StreamCore& stream_;
    LaunchLane& lane_;
    std::shared_ptr<Timeline> timeline_;
    PacketLog log_;
    Parking parking_;  // for the thread that holds the mutex and waits
    std::shared_ptr<SharedQueue> queue_;
    std::atomic<QueueRef> queue_ref_;
    std::uint64_t most_packets_;
    bool timed_ = false;
};

}  // namespace hsadrv::detail
