#include "hsadrv/stream/launch_lane.hpp"

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail {

bool LaneMutex::try_take(std::uint32_t bits) noexcept {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    do {
        if (state & taken) return false;
    } while (!state_.compare_exchange_weak(state, state | bits, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
}

bool LaneMutex::try_lock() noexcept {
    if (!try_take(taken)) return false;
    lock_ranks::took(LockRank::stream);
    return true;
}

void LaneMutex::lock() noexcept {
    lock_ranks::wait_for(LockRank::stream);
    for (std::uint32_t bits = taken; !try_take(bits); bits = taken | contended) {
        const std::uint32_t state = state_.fetch_or(contended, std::memory_order_relaxed) | contended;
        if (state & taken) state_.wait(state, std::memory_order_relaxed);
    }
    lock_ranks::took(LockRank::stream);
}

// The mutex has been given back, and may be gone: only its address is used.
void LaneMutex::wake_one() noexcept { state_.notify_one(); }

// The waiter that wakes sets the contended bit again.
void LaneMutex::unlock() noexcept {
    lock_ranks::gave_back(LockRank::stream);
    if (!(state_.load(std::memory_order_relaxed) & contended)) return unlock_straight();
    state_.fetch_and(~(taken | contended), std::memory_order_release);
    wake_one();
}

}  // namespace hsadrv::detail
