// Internal: the hardware queues of a GPU, shared by its streams.
//
//   std::shared_ptr<SharedQueue> queue = pool.take({.gpu = gpu, .packets = 1024});
//   queue->enter(stream); … queue->leave(stream);
//
// A GPU has few hardware queues and a program many streams. The first streams get a queue each; later ones
// join the queue with the fewest streams. Every packet has the barrier bit, so that streams of one queue run
// one after the other, and at most one packet of a queue has begun and is not complete.
//
// Streams with a priority or a mask of compute units share with their like alone, and from a number of queues of their
// own, so that ordinary streams, which come first and in crowds, leave them some.
//
// When a packet stops its queue, the stream whose packet it was fails, and no other: what the others have on
// that queue has not begun, and they move it to a new queue, together and in its order (dead_queue.hpp).
//
// Thread safety: any thread. The pool holds no queue alive: a queue lives as long as streams use it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

class StreamCore;

struct QueueNeeds {
    AgentRef gpu;
    std::uint32_t packets = 1024;  ///< the least that the ring must hold, a power of two
    bool exclusive = false;
    QueuePriority priority = QueuePriority::normal;
    std::vector<std::uint32_t> cu_mask = {};  ///< empty: all compute units

    bool ordinary() const noexcept { return priority == QueuePriority::normal && cu_mask.empty(); }
    /// May streams of one and of the other share a queue?
    bool alike(const QueueNeeds& other) const noexcept {
        return gpu == other.gpu && priority == other.priority && cu_mask == other.cu_mask;
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
    void leave(StreamCore& stream) noexcept;
    /// leave() for a stream that is gone with packets in flight: keeps what they use until they are complete.
    void leave(StreamCore& stream, std::shared_ptr<const void> remains);
    /// Polls for that stream, which is gone, until its packets have run or the queue has stopped.
    static void look_after_gone(const std::shared_ptr<SharedQueue>& queue, const std::shared_ptr<Timeline>& timeline);
    /// Of a stream that is gone: its packet may run at any time, so nobody else gets the signal before it has, or the
    /// queue has ended.
    void keep_gate(std::shared_ptr<PooledSignal>&& gate) noexcept;
    std::size_t streams() const;
    /// Do streams that the pool looks for a queue for get this one?
    bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }
    void open() noexcept { open_.store(true, std::memory_order_relaxed); }

    /// Nothing runs on it any more, and the stream at fault has been told.
    bool dead() const noexcept { return dead_.load(std::memory_order_acquire); }
    /// Returns when it is dead: a moment after its packet processor has stopped it.
    void await_death();

    /// Stops the queue because of this stream, whose packet is at its head; null: of one that is gone. False, and
    /// nothing happens, if the head is another stream's, or has not been the same for long enough since it was first
    /// asked for (is_quiet). True if the queue was dead before.
    bool try_stop_for(const StreamCore* stream) noexcept;
    /// The same, waiting for the head to be quiet, a second at most. With no lock.
    bool stop_for(const StreamCore* stream) noexcept;
    std::vector<StreamCore*> streams_on() const;
    /// Whether the first packet that is not complete is that stream's; null: of one that is gone.
    bool is_head(const StreamCore* stream) const noexcept;
    /// The label of the stream whose packet is the first that is not complete; empty if everything is.
    std::string head_label() const;

  private:
    struct User {
        std::shared_ptr<Timeline> timeline;
        StreamCore* stream;  // null: it is gone
        std::shared_ptr<const void> remains;
    };

    void on_error() noexcept;
    void die() noexcept;
    void tell_who_was_cut_off(const Timeline* stopped) noexcept;
    /// Their packets will not run: who looks after them learns it.
    void hurry_the_gone() const noexcept;
    /// Have the head and the packet at the read index been the same for the time that its error takes to be reported?
    /// With the mutex; the first question about a packet starts the time.
    bool is_quiet(const Timeline& head) noexcept;
    const User* head() const noexcept;
    /// Takes out those whose packets have run, or never will: to be destroyed without the mutex.
    std::vector<User> take_the_gone();
    /// Destroys what remains of streams that are gone, on the copies' thread: what they kept may be anything, with
    /// locks of its own, and the caller may hold a stream's mutex.
    static void let_go(std::vector<User> gone) noexcept;

    QueueNeeds needs_;
    mutable Ranked<std::mutex, LockRank::queue> mutex_;
    std::condition_variable_any died_;
    std::vector<User> users_;
    std::vector<std::shared_ptr<PooledSignal>> gates_;
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
    std::atomic<bool> open_;         // relaxed: who sees it late takes another queue
    std::atomic<bool> dead_{false};  // released after the stream at fault has failed
    Queue queue_;                    // last: no error callback runs once it is destroyed
};

class QueuePool {
  public:
    /// A queue for one more stream: new while there are fewer than `most`, else shared. Throws OutOfMemory when
    /// the GPU has none left and nobody shares, InvalidArgument for a size or a mask that the GPU does not take.
    std::shared_ptr<SharedQueue> take(QueueNeeds needs);

    /// One more queue in place of one that is dead, with nothing on it. No other stream gets it until it is open.
    std::shared_ptr<SharedQueue> make(const QueueNeeds& needs);
    /// Those that streams use.
    std::vector<std::shared_ptr<SharedQueue>> queues();

    /// Hardware queues of one GPU that ordinary streams share out among themselves, and those with a priority or a
    /// mask: the 24 that KFD keeps on the hardware of most GPUs at once (num_cp_queues of its topology).
    static constexpr std::size_t most = 16, most_special = 8;

  private:
    /// With the mutex held. To be destroyed without it.
    std::vector<std::shared_ptr<SharedQueue>> live_queues() const;

    Ranked<std::mutex, LockRank::pool> mutex_;
    std::vector<std::weak_ptr<SharedQueue>> queues_;
};

}  // namespace hsadrv::detail
