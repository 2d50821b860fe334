// Internal: a lock for some dozens of instructions, taken once for each block of memory.
//
//   const std::lock_guard held(lock_);
//
// Unlocking is a plain store, where a mutex has another locked instruction to learn of sleepers: who waits sleeps for
// a moment and look again. So it fits where two threads seldom meet, and whoever holds it longer makes the others late,
// but does not make them spin. BasicLockable. Thread safety: that is what it is for. Memory ordering: lock() acquires
// what unlock() released. Owns: nothing.
#pragma once

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
