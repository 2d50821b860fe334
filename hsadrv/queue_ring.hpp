// Internal: which memory is the ring of a queue that lives, for those who would adopt it, and free it under the queue.
//
//   ring_memory.is(native->base_address);      // in the queue's state
//   if (QueueRing::at(address)) refuse();
//
// A list through the queues themselves: nothing is allocated, and nothing is left when the last one is gone. Owns:
// nothing. Thread safety: any thread, one lock.
#pragma once

namespace hsadrv::detail {

class QueueRing {
  public:
    QueueRing() noexcept = default;
    QueueRing(const QueueRing&) = delete;
    QueueRing& operator=(const QueueRing&) = delete;
    ~QueueRing();

    /// From now on this memory, in place of what it was.
    void is(const void* ring) noexcept;
    /// Whether a ring begins there.
    static bool at(const void* address) noexcept;

  private:
    const void* ring_ = nullptr;
    QueueRing *before_ = nullptr, *after_ = nullptr;
};

}  // namespace hsadrv::detail
