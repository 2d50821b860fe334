// Internal: the lock order of this library. A thread that waits for a lock must not hold one of the same or a later
// rank; a debug build aborts if it does, and names both.
//
//   Ranked<std::mutex, LockRank::queue> mutex_;
//
// A lock that is only tried has no order.
// Thread safety: any thread; the held ranks are thread-local.
#pragma once

#include "shared/cpp20.hpp"

#include <cstdint>
#include <mutex>

namespace hsadrv::detail {

enum class LockRank : std::uint8_t {
    handle,     ///< StreamHandle
    list,       ///< live_streams
    stream,     ///< LaneMutex
    pool,       ///< QueuePool
    queue,      ///< SharedQueue
    copies,     ///< CopyQueue
    engines,    ///< EngineRoom
    callbacks,  ///< SignalCallbacks
    leaf,       ///< Timeline, StreamHolds, SignalPool, departures: no lock is taken while one is held
};

namespace lock_ranks {
#ifdef NDEBUG
inline void wait_for(LockRank) noexcept {}
inline void took(LockRank) noexcept {}
inline void gave_back(LockRank) noexcept {}
#else
/// Call before waiting for a lock. Aborts if the thread holds one of this rank or a later one.
void wait_for(LockRank rank) noexcept;
void took(LockRank rank) noexcept;
void gave_back(LockRank rank) noexcept;
#endif
}  // namespace lock_ranks

/// A Mutex with a rank. BasicLockable.
template <class Mutex, LockRank rank>
class Ranked {
  public:
    void lock() {
        lock_ranks::wait_for(rank);
        mutex_.lock();
        lock_ranks::took(rank);
    }
    /// Waits for nothing, so the order does not matter.
    bool try_lock() {
        if (!mutex_.try_lock()) return false;
        lock_ranks::took(rank);
        return true;
    }
    void unlock() noexcept {
        lock_ranks::gave_back(rank);
        mutex_.unlock();
    }

  private:
    Mutex mutex_;
};

}  // namespace hsadrv::detail
