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
// that queue has not begun, and each of them moves it to another queue (StreamCore::follow_queue).
//
// Thread safety: any thread. Lock order: a stream's mutex, then the pool's, then a queue's, then what a failing
// stream takes. The pool holds no queue alive: a queue lives as long as streams use it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/timeline.hpp"

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
    SharedQueue(const QueueNeeds& needs, std::uint32_t packets);
    SharedQueue(const SharedQueue&) = delete;
    SharedQueue& operator=(const SharedQueue&) = delete;

    const QueueNeeds& needs() const noexcept { return needs_; }
    QueueRef ref() const noexcept { return queue_; }

    void enter(StreamCore& stream);
    void leave(StreamCore& stream) noexcept;
    /// leave() for a stream that is gone with packets in flight: keeps what they use until they are complete.
    void leave(StreamCore& stream, std::shared_ptr<const void> remains);
    std::size_t streams() const;

    /// Nothing runs on it any more, and the stream at fault has been told.
    bool dead() const noexcept { return dead_.load(std::memory_order_acquire); }
    /// Returns when it is dead: a moment after its packet processor has stopped it.
    void await_death();

    /// Stops the queue because of this stream, whose packet is at its head. False, and nothing happens, if the
    /// head is another stream's. True if the queue was dead before.
    bool stop_for(const StreamCore& stream) noexcept;
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
    User* head() noexcept;
    void forget_the_gone() noexcept;

    QueueNeeds needs_;
    mutable std::mutex mutex_;
    std::condition_variable died_;
    std::vector<User> users_;
    std::atomic<bool> dead_{false};  // released after the stream at fault has failed
    Queue queue_;  // last: no error callback runs once it is destroyed
};

class QueuePool {
  public:
    /// A queue for one more stream: new while there are fewer than `most`, else shared. Throws OutOfMemory when
    /// the GPU has none left and nobody shares, InvalidArgument for a size or a mask that the GPU does not take.
    std::shared_ptr<SharedQueue> take(QueueNeeds needs);

    /// Hardware queues of one GPU that ordinary streams share out among themselves, and those with a priority or a
    /// mask: the 24 that KFD keeps on the hardware of most GPUs at once (num_cp_queues of its topology).
    static constexpr std::size_t most = 16, most_special = 8;

  private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<SharedQueue>> queues_;
};

}  // namespace hsadrv::detail
