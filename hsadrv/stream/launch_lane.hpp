// Internal: the launch fast path of a stream, inlined into the caller: a lock, space for the arguments, a packet, a
// doorbell. No calls and no allocations.
//
//   if (!lane.try_launch(room_bytes, fill)) …          // the slow path
//
// It declines in all other cases (a copy to wait for, a capture, profiling, a failure, no room), and StreamCore takes
// the slow path. Owned by the StreamCore, which updates it under the mutex. Thread safety: the mutex orders launches. A
// failure, or disable_fast_path() by another thread, may take effect one launch late. Memory ordering: aql_ring.hpp's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hsadrv/aql_ring.hpp"
#include "hsadrv/dispatch_spec.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

/// A mutex whose uncontended lock and unlock take one instruction each, with two switches for the fast path:
/// try_lock_fast() fails from disable_fast_path() until enable_fast_path(), and while a call has the order
/// (call_order.hpp). BasicLockable, with try_lock. lock() and try_lock() check the order of locks (lock_rank.hpp) in
/// debug builds; the fast path does not.
class LaneMutex {
  public:
    bool try_lock_fast() noexcept {
        std::uint32_t expected = 0;
        return state_.compare_exchange_strong(expected, taken, std::memory_order_acquire, std::memory_order_relaxed);
    }
    /// The contended bit remains for the next unlock(): nothing is written to a mutex that was given back.
    void unlock_straight() noexcept {
        if (state_.fetch_sub(taken, std::memory_order_release) & contended) [[unlikely]]
            wake_one();
    }

    bool try_lock() noexcept;
    void lock() noexcept;
    void unlock() noexcept;

    /// Any thread. Release: a thread that finds the fast path disabled sees the reason.
    void disable_fast_path() noexcept { state_.fetch_or(fast_path_disabled, std::memory_order_release); }
    /// With the lock held, before the reasons are checked. Acquire: a later reason disables it again.
    void enable_fast_path() noexcept { state_.fetch_and(~fast_path_disabled, std::memory_order_acq_rel); }

    /// With the lock held: whether a call has the order.
    void set_ordered(bool on) noexcept {
        on ? state_.fetch_or(ordered, std::memory_order_relaxed)
           : state_.fetch_and(~ordered, std::memory_order_relaxed);
    }

  private:
    static constexpr std::uint32_t taken = 1, contended = 2, fast_path_disabled = 4, ordered = 8;

    bool try_take(std::uint32_t bits) noexcept;
    /// Not inline: std::atomic counts its waiters in a static of the C++ library, of which a caller built by another
    /// compiler may have a copy. One that waits here and one that notifies there would not meet.
    void wake_one() noexcept;

    std::atomic<std::uint32_t> state_{0};
};

struct LaunchLane {
    LaneMutex mutex;
    AqlRing* ring = nullptr;
    Timeline* timeline = nullptr;
    std::uint64_t limit = 0;  ///< how many packets may be submitted before the timeline is checked again
    std::uint64_t room = 0;   ///< slots of the ring that may be in use
    KernargRing kernargs;
    hsa_agent_t agent{};
    std::uint64_t completion = 0;  ///< the timeline's signal

    /// Enqueues a kernel with room_bytes for its arguments, as KernargRing counts them: `fill(std::byte* kernarg,
    /// std::uint32_t* words)` writes its arguments and words 1 to 9 of its packet, and returns its number of
    /// dimensions. False: nothing happened, take the slow path.
    template <class Fill>
    [[gnu::always_inline]] bool try_launch(std::size_t room_bytes, Fill&& fill) noexcept {
        if (!mutex.try_lock_fast()) [[unlikely]]
            return false;
        AqlRing& packets = *ring;
        Timeline& counts = *timeline;
        std::uint64_t slot = 0;
        if (counts.failed() || counts.submitted() >= limit || !kernargs.has_room(room_bytes) ||
            !packets.try_reserve_one(slot, room)) [[unlikely]] {
            mutex.unlock_straight();
            return false;
        }
        std::byte* const kernarg = kernargs.place();
        std::uint32_t* const words = packets.slot(slot).words.data();
        const unsigned dimensions = fill(kernarg, words);
        finish_dispatch(words, dimensions, kernarg, completion);
        kernargs.commit(counts.submit(slot), room_bytes);
        packets.publish_one(slot);
        mutex.unlock_straight();
        return true;
    }
};

}  // namespace hsadrv::detail
