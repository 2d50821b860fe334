// Internal: the hardware queues of a GPU, shared by its streams.
//
//   std::shared_ptr<SharedQueue> queue = pool.take({.gpu = gpu, .packets = 1024});
//   queue->enter(stream); … queue->leave(stream);
//
// A GPU has few hardware queues and a program may have many streams. The first streams receive a queue each; later ones
// join the queue with the fewest streams. Every packet has the barrier bit, so the streams of one queue run one after
// the other, and at most one packet of a queue has begun and is not complete.
//
// Streams with a priority or a mask of compute units share only with streams that have the same ones. They have a
// separate quota of queues, so that ordinary streams, which are many and usually come first, cannot use up all queues.
//
// When a packet stops its queue, only the stream of that packet fails: the packets of the other streams on that queue
// have not begun, and they move to a new queue, together and in order (dead_queue.hpp).
//
// Thread safety: any thread. The pool keeps no queue alive: a queue lives as long as streams use it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

class StreamCore;
class StreamRemains;

struct QueueNeeds {
    AgentRef gpu;
    std::uint32_t packets = 1024;  ///< the minimum ring size, a power of two
    bool exclusive = false;
    bool cooperative = false;  ///< the only queue of the GPU for cooperative launches
    QueuePriority priority = QueuePriority::normal;
    std::vector<std::uint32_t> cu_mask = {};  ///< empty: all compute units

    bool ordinary() const noexcept { return priority == QueuePriority::normal && cu_mask.empty(); }
    /// Whether streams with these needs may share a queue with streams of the others.
    bool alike(const QueueNeeds& other) const noexcept {
        return gpu == other.gpu && cooperative == other.cooperative && priority == other.priority &&
               cu_mask == other.cu_mask;
    }
};

class SharedQueue {
  public:
    SharedQueue(const QueueNeeds& needs, std::uint32_t packets, bool open = true);
    SharedQueue(const SharedQueue&) = delete;
    SharedQueue& operator=(const SharedQueue&) = delete;
    ~SharedQueue();

    const QueueNeeds& needs() const noexcept { return needs_; }
    QueueRef ref() const noexcept { return queue_; }

    void enter(StreamCore& stream);
    void leave(const Timeline& stream) noexcept;
    /// leave() for a stream that is destroyed with packets in flight: keeps what they use until the last is complete,
    /// or no packet of the queue runs any more.
    static void outlive(const std::shared_ptr<SharedQueue>& queue, const Timeline& stream, CompletionSignal last,
                        std::shared_ptr<StreamRemains> remains) noexcept;
    std::size_t streams() const;  ///< including destroyed ones with packets in flight
    /// The ring is a stream's alone if it is the only one; streams of `live` are those that may submit. With the lock
    /// of the list, so that none of them is destroyed or moved; and when a stream has entered or left.
    void settle_producers(std::span<StreamCore* const> live);
    /// Whether the pool may give this queue to new streams.
    bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }
    void open() noexcept { open_.store(true, std::memory_order_relaxed); }

    /// Nothing runs on it any more, and the stream at fault has failed.
    bool dead() const noexcept { return dead_.load(std::memory_order_acquire); }
    /// Whether streams that have not failed are to leave it, because it is dead or is about to be.
    bool is_being_left() const noexcept;

    /// Stops the queue because of this stream, whose packet is at its head; null: a destroyed stream's. Does nothing
    /// and returns false if the head is another stream's packet, or has not been unchanged for long enough since the
    /// first call (is_quiet). Returns true if the queue was already dead.
    bool try_stop_for(const StreamCore* stream) noexcept;
    /// The same, but waits up to one second for the head to be quiet. Call with no lock held.
    bool stop_for(const StreamCore* stream) noexcept;
    std::vector<StreamCore*> streams_on() const;
    /// Whether the first incomplete packet belongs to that stream; null: to a destroyed one.
    bool is_head(const StreamCore* stream) const noexcept;
    /// The label of the stream with the first incomplete packet; empty if all are complete.
    std::string head_label() const;

  private:
    struct User {
        std::shared_ptr<Timeline> timeline;
        StreamCore* stream;  // null: destroyed
    };

    void on_error() noexcept;
    void die() noexcept;
    void fail_who_was_cut_off(const Timeline* stopped) noexcept;
    /// No packet runs any more: lets go of what destroyed streams' packets use.
    void end_outlived() const noexcept;
    /// Whether the head and the packet at the read index have been unchanged for the time that reporting an error
    /// takes. With the mutex held; the first call for a packet starts the time.
    bool is_quiet(const Timeline& head) noexcept;
    const User* head() const noexcept;

    QueueNeeds needs_;
    mutable Ranked<std::mutex, LockRank::queue> mutex_;
    std::vector<User> users_;
    struct Quiet {
        const Timeline* head = nullptr;
        std::uint64_t head_slot = UINT64_MAX, read_index = UINT64_MAX;
        std::uint32_t packet_type = 0;
        Deadline::Clock::time_point since = {};
        bool is_as(const Quiet& other) const noexcept {
            return head == other.head && head_slot == other.head_slot && read_index == other.read_index &&
                   packet_type == other.packet_type;
        }
    } quiet_;
    std::atomic<bool> open_;         // relaxed: a thread that reads a stale value takes another queue
    std::atomic<bool> dead_{false};  // released after the stream at fault has failed
    Queue queue_;                    // last: no error callback runs once it is destroyed
};

class QueuePool {
  public:
    /// A queue for one more stream: a new one while there are fewer than `most`, else a shared one. Throws OutOfMemory
    /// if the GPU has none left and none can be shared, InvalidArgument for a size or a mask that the GPU does not
    /// accept.
    std::shared_ptr<SharedQueue> take(QueueNeeds needs);

    /// An empty queue that replaces a dead one. No other stream receives it until it is open.
    std::shared_ptr<SharedQueue> make(const QueueNeeds& needs);
    /// The open queue for cooperative launches, of which there is one; null: there is none.
    std::shared_ptr<SharedQueue> cooperative(const QueueNeeds& needs);
    /// The queues in use.
    std::vector<std::shared_ptr<SharedQueue>> queues();

    /// The quotas of hardware queues of one GPU for ordinary streams and for those with a priority or a mask. Their sum
    /// is the 24 queues that KFD keeps on the hardware of most GPUs at once (num_cp_queues of its topology).
    static constexpr std::size_t most = 16, most_special = 8;

  private:
    /// With the mutex held; destroy the result without it.
    std::vector<std::shared_ptr<SharedQueue>> live_queues() const;
    /// The GPU's only one. Waits while a dead one is being replaced: kernels on two could each have a part of the GPU.
    std::shared_ptr<SharedQueue> take_cooperative(const QueueNeeds& needs);

    Ranked<std::mutex, LockRank::pool> mutex_;
    std::vector<std::weak_ptr<SharedQueue>> queues_;
};

}  // namespace hsadrv::detail
