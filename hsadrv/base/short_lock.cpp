#include "hsadrv/base/short_lock.hpp"

#include <chrono>
#include <thread>

namespace hsadrv::detail {

// Spins, yields, then sleeps: on one core the holder needs the CPU, and a holder that keeps the lock after that is in
// the runtime for microseconds or more.
void ShortLock::lock_contended() noexcept {
    constexpr int looks = 100, yields = 16;
    for (int i = 0; taken_.load(std::memory_order_relaxed) || taken_.exchange(true, std::memory_order_acquire); ++i) {
        if (i < looks) continue;
        if (i < looks + yields)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

}  // namespace hsadrv::detail
