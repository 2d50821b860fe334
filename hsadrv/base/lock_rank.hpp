// Internal: the order of this library's locks, in one place. A thread that waits for a lock has none of the same or a
// later rank; a debug build aborts where it has, and names both.
//
//   Ranked<std::mutex, LockRank::queue> mutex_;
//
// A lock that is only tried may be taken in any order: so the list of streams looks at streams whose threads may be
// waiting for the list. Thread safety: the ranks that a thread holds are its own.
#pragma once

#include <cstdint>
#include <mutex>

namespace hsadrv::detail {

enum class LockRank : std::uint8_t {
    handle,     ///< StreamHandle
    stream,     ///< LaneMutex
    list,       ///< live_streams
    pool,       ///< QueuePool
    queue,      ///< SharedQueue
    copies,     ///< CopyQueue
    callbacks,  ///< SignalCallbacks
    leaf,       ///< Timeline, StreamHolds, SignalPool, departures: nothing is locked under them
};

namespace lock_ranks {
#ifdef NDEBUG
inline void wait_for(LockRank) noexcept {}
inline void took(LockRank) noexcept {}
inline void gave_back(LockRank) noexcept {}
#else
/// Before a lock is waited for: aborts if the thread holds one of this rank or a later one.
void wait_for(LockRank rank) noexcept;
void took(LockRank rank) noexcept;
void gave_back(LockRank rank) noexcept;
#endif
}  // namespace lock_ranks

/// A Mutex with its place in the order. BasicLockable.
template <class Mutex, LockRank rank>
class Ranked {
  public:
    void lock() {
        lock_ranks::wait_for(rank);
        mutex_.lock();
        lock_ranks::took(rank);
    }
    void unlock() noexcept {
        lock_ranks::gave_back(rank);
        mutex_.unlock();
    }

  private:
    Mutex mutex_;
};

}  // namespace hsadrv::detail
