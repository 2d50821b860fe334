// Internal: ShortLock, a spinlock that sleeps under contention, for critical sections of a few dozen instructions.
//
//   const std::lock_guard held(lock_);
//
// Unlocking is a plain store; a mutex needs another locked instruction to detect sleepers. Instead, waiters poll: they
// spin, yield, then sleep briefly between polls. Use it where contention is rare: a long critical section delays
// the waiters, but does not make them spin. BasicLockable. Thread safety: any thread. Memory
// ordering: lock() acquires what unlock() released.
#pragma once

#include "shared/cpp20.hpp"

#include <atomic>

namespace hsadrv::detail {

class ShortLock {
  public:
    void lock() noexcept {
        if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
            lock_contended();
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

  private:
    void lock_contended() noexcept;

    std::atomic<bool> taken_{false};
};

}  // namespace hsadrv::detail
