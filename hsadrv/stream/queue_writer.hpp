// Internal: puts a stream's packets on its hardware queue, waits for them, and follows the queue when that dies.
//
//   const std::uint64_t count =
//       writer.put_counted(barrier_and(…), {.kind = PacketRecord::Kind::event, …}, deadline, call);
//   writer.wait({.epochs = count}, deadline, call);
//
// Invariants: a packet that is counted is in the timeline before it is in the ring, and one that is not one kernel is
// in the log. Nothing moves to another queue but while the thread that has the mutex waits (parking.hpp) or is the one
// that moves it.
//
// Thread safety: the stream's mutex guards it, but for lock(). Borrows: the stream and its lane.
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

/// Of packets that only order: copies see to their own visibility, and the kernels around them acquire and release at
/// system scope.
inline constexpr PacketOrder ordering_only{.barrier = true, .acquire = FenceScope::none, .release = FenceScope::none};

class QueueWriter {
  public:
    /// At most `packets` are in flight.
    QueueWriter(StreamCore& stream, LaunchLane& lane, std::shared_ptr<Timeline> timeline,
                std::shared_ptr<SharedQueue> queue, std::uint32_t packets);

    const std::shared_ptr<SharedQueue>& queue() const noexcept { return queue_; }
    /// The same from any thread. A queue that was left goes when the stream is next used.
    QueueRef queue_ref() const noexcept { return queue_ref_.load(std::memory_order_acquire); }
    PacketLog& log() noexcept { return log_; }
    const PacketLog& log() const noexcept { return log_; }
    Parking& parking() noexcept { return parking_; }

    std::unique_lock<LaneMutex> lock(Deadline deadline, const char* call) const;
    std::unique_lock<LaneMutex> try_lock() const { return std::unique_lock(lane_.mutex, std::try_to_lock); }

    /// One that completes on no count.
    void put(const Packet& packet, PacketRecord&& record, Deadline deadline, const char* call);
    /// Returns the count at which it is complete.
    std::uint64_t put_counted(const Packet& packet, Deadline deadline, const char* call);
    std::uint64_t put_counted(const Packet& packet, PacketRecord&& record, Deadline deadline, const char* call);
    /// Several that complete on one count with the last: all of them, or none.
    std::uint64_t put_batch(std::span<const Packet> packets, const Packet& last, PacketRecord&& record,
                            Deadline deadline, const char* call);

    /// Does the caller hold the mutex while it waits?
    enum class Lock { held, free };
    /// Returns when the completion is reached. Throws the failure, or Timeout naming the call.
    void wait(const Completion& completion, Deadline deadline, const char* call, Lock lock = Lock::held);
    /// Waits for one more packet to complete, 20 ms at most: the caller needs room, and looks again.
    void wait_for_progress(Deadline deadline, const char* call);
    /// What waiters do meanwhile: no signal tells of some failures.
    void poll(Lock lock) noexcept;
    /// "1 of 3 packets complete, the first of the others is kernel scale"
    std::string situation() const;

    /// Before the stream enters that queue: it does what the one before did.
    void make_ready_for(const SharedQueue& queue) const;
    /// Onto a queue that it has entered, with what is listed in the log; returns the one before.
    std::shared_ptr<SharedQueue> change_queue(const std::shared_ptr<SharedQueue>& fresh) noexcept;
    /// From here on devices write times into packets' own signals.
    void time_packets();
    /// No packet of the stream runs from here on.
    void drop_queue() noexcept { queue_.reset(); }

  private:
    std::uint64_t reserve(std::uint32_t count, Deadline deadline, const char* call);
    void wait_for_turn(Deadline deadline, const char* call);
    /// The next counted packet lies here, or so many.
    std::uint64_t count_packets(std::uint64_t slot, std::uint32_t packets = 1) noexcept;
    /// Returns when the stream is on a queue that runs.
    void follow_queue(Deadline deadline, const char* call);
    void set_queue(std::shared_ptr<SharedQueue> queue) noexcept;

    StreamCore& stream_;
    LaunchLane& lane_;
    std::shared_ptr<Timeline> timeline_;
    PacketLog log_;
    Parking parking_;  // of the thread that holds the mutex and waits
    std::shared_ptr<SharedQueue> queue_;
    std::atomic<QueueRef> queue_ref_;
    std::uint64_t most_packets_;
    bool timed_ = false;
};

}  // namespace hsadrv::detail
