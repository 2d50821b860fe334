// Internal: writes a stream's packets to its hardware queue, waits for them, and changes the queue when that stops.
//
//   while (!(slot = writer.try_reserve(1))) writer.wait_for_room(deadline, call);
//   const std::uint64_t count = writer.put_counted(*slot, barrier_and(…), {.kind = PacketRecord::Kind::event, …});
//   writer.wait({.epochs = count}, deadline, call);
//
// Invariants: a counted packet is in the timeline before it is in the ring, and a packet that is not a single kernel is
// in the log. What is reserved is put before the mutex is given back, so that packets move to another queue whole.
//
// Thread safety: the stream's mutex guards it, except queue_ref() and wait(). Borrows: the stream's lane and order.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hsadrv/stream/call_order.hpp"
#include "hsadrv/stream/completion.hpp"
#include "hsadrv/stream/launch_lane.hpp"
#include "hsadrv/stream/packet_log.hpp"
#include "hsadrv/stream/queue_pool.hpp"

namespace hsadrv::detail {

/// For packets that only order: copies provide their own visibility, and the kernels around them acquire and release at
/// system scope.
inline constexpr PacketOrder ordering_only{.barrier = true, .acquire = FenceScope::none, .release = FenceScope::none};

/// Slots of a stream that only host functions use, as it may be full of packets that wait for them; and as many that
/// only packets use which join work that is enqueued already.
inline constexpr std::uint32_t spare_packets = 32;
enum class Room : bool { ordinary, last };

class QueueWriter {
  public:
    /// At most `packets` are in flight.
    QueueWriter(LaunchLane& lane, CallOrder& order, std::shared_ptr<Timeline> timeline,
                std::shared_ptr<SharedQueue> queue, std::uint32_t packets);

    const std::shared_ptr<SharedQueue>& queue() const noexcept { return queue_; }
    /// Any thread. A queue that was left is released when the stream is next used.
    QueueRef queue_ref() const noexcept { return queue_ref_.load(std::memory_order_acquire); }
    PacketLog& log() noexcept { return log_; }
    const PacketLog& log() const noexcept { return log_; }

    /// The first of `count` slots for packets with one count; std::nullopt if there is no room now. `uncounted`: for a
    /// packet without a count.
    std::optional<std::uint64_t> try_reserve(std::uint32_t count, Room room = Room::ordinary);
    std::optional<std::uint64_t> try_reserve_uncounted(std::uint32_t count = 1, Room room = Room::ordinary);
    /// Whether a packet would find room now.
    bool has_room(std::uint32_t packets) noexcept;
    /// Waits up to 20 ms for room, without the mutex; the caller then tries again. Throws the failure, or Timeout.
    void wait_for_room(Deadline deadline, const char* call, Room room = Room::ordinary);

    // Into slots that were reserved. The counted ones return the count at which they are complete; packets of a batch
    // share one, reached with the last.
    void put(std::uint64_t slot, const Packet& packet, PacketRecord&& record) noexcept;
    std::uint64_t put_counted(std::uint64_t slot, const Packet& packet) noexcept;
    std::uint64_t put_counted(std::uint64_t slot, const Packet& packet, PacketRecord&& record) noexcept;
    std::uint64_t put_batch(std::uint64_t slot, std::span<const Packet> packets, const Packet& last,
                            PacketRecord&& record) noexcept;

    /// Returns when the completion is reached. Throws the failure, or Timeout naming the call. Any thread, without the
    /// mutex.
    void wait(const Completion& completion, Deadline deadline, const char* call) const;
    /// "1 of 3 packets complete, the first incomplete one is kernel scale"
    std::string situation() const;

    /// Before the stream enters that queue: applies the settings of the previous one.
    void make_ready_for(const SharedQueue& queue) const;
    /// Moves to a queue that the stream has entered, with the packets that the log lists; returns the previous queue.
    std::shared_ptr<SharedQueue> change_queue(std::shared_ptr<SharedQueue> fresh) noexcept;
    /// The slots of a queue's ring that ordinary packets of so many streams may use together.
    static std::uint64_t room_of(std::uint64_t size, std::size_t streams) noexcept;
    /// So many streams use the queue now.
    void set_room(std::size_t streams) noexcept;
    /// From here on devices write timestamps to the packets' own signals.
    void time_packets();
    /// No packet of the stream runs after this.
    void drop_queue() noexcept { queue_.reset(); }

  private:
    /// Records the slot of the next counted packet, or of the first of `packets`.
    std::uint64_t count_packets(std::uint64_t slot, std::uint32_t packets = 1) noexcept;
    void set_queue(std::shared_ptr<SharedQueue> queue) noexcept;
    bool has_turn(Room room, std::uint32_t packets = 1) noexcept;

    LaunchLane& lane_;
    CallOrder& order_;
    std::shared_ptr<Timeline> timeline_;
    PacketLog log_;
    std::shared_ptr<SharedQueue> queue_;
    std::atomic<QueueRef> queue_ref_;
    std::uint64_t most_packets_;
    std::uint64_t host_room_ = 0;  ///< slots of the ring that may be in use for host functions
    bool timed_ = false;
};

}  // namespace hsadrv::detail
