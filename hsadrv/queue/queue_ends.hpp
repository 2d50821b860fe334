// Internal: tells subscribers that a queue is about to be destroyed, and that it is.
//
//   QueueEnds subscription([](RingRange ring, bool ended) { … });   // its waves give nothing back any more
//   QueueEnds::tell(ring, false);  hsa_queue_destroy(queue);  QueueEnds::tell(ring, true);
//
// Before the first call's end waves of the queue may still run, after the second one's start none does, and another
// queue may have its memory. Thread safety: any thread; one call at a time, with a lock that is a leaf (lock_rank.hpp).
#pragma once

#include <cstdint>
#include <functional>

namespace hsadrv::detail {

/// Addresses of dispatch packets.
struct RingRange {
    std::uint64_t begin, end;
    bool holds(std::uint64_t packet) const noexcept { return packet >= begin && packet < end; }
};

class QueueEnds {
  public:
    /// Must not throw.
    using Function = std::function<void(const RingRange& ring, bool ended)>;

    explicit QueueEnds(Function function);
    QueueEnds(const QueueEnds&) = delete;
    QueueEnds& operator=(const QueueEnds&) = delete;
    /// The function is not running when this returns.
    ~QueueEnds();

    static void tell(const RingRange& ring, bool ended) noexcept;

  private:
    Function function_;
};

}  // namespace hsadrv::detail
