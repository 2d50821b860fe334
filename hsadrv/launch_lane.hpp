// Internal: the launch path of a stream, in one place and inlined into the caller: a lock, a place for the arguments, a
// packet, a doorbell. No call, no allocation.
//
//   if (std::byte* kernarg = lane.try_begin(bytes)) { fill(kernarg); lane.try_commit(spec, kernarg); lane.end(); }
//
// Whatever is out of the ordinary (a copy to wait for, a capture, a failure, no room) makes try_begin or try_commit
// decline, and StreamCore does it the long way. Owned by the StreamCore, which keeps it right under the mutex.
// Thread safety: the mutex orders launches; detour() and what it reads may change at any moment, which is no
// worse than a moment later. Memory ordering: aql_ring.hpp's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hsadrv/aql_ring.hpp"
#include "hsadrv/dispatch_spec.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/timeline.hpp"

namespace hsadrv::detail {

/// A mutex whose uncontended lock and unlock are an instruction each. BasicLockable, with try_lock.
class LaneMutex {
  public:
    void lock() noexcept {
        if (!try_lock()) lock_contended();
    }
    bool try_lock() noexcept {
        std::uint32_t expected = free;
        return state_.compare_exchange_strong(expected, taken, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void unlock() noexcept {
        if (state_.exchange(free, std::memory_order_release) == contended) [[unlikely]]
            state_.notify_one();
    }

  private:
    static constexpr std::uint32_t free = 0, taken = 1, contended = 2;

    void lock_contended() noexcept {
        while (state_.exchange(contended, std::memory_order_acquire) != free)
            state_.wait(contended, std::memory_order_relaxed);
    }

    std::atomic<std::uint32_t> state_{free};
};

struct LaunchLane {
    LaneMutex mutex;
    bool busy_elsewhere = false;  ///< a copy to wait for, or a capture: under the mutex
    const std::atomic<bool>* queue_dead = nullptr;
    AqlRing* ring = nullptr;
    Timeline* timeline = nullptr;
    std::uint64_t packets = 0;         ///< in flight, at most
    std::uint64_t completed_seen = 0;  ///< of the timeline
    KernargRing kernargs;
    hsa_agent_t agent{};
    std::uint64_t completion = 0;  ///< the timeline's signal

    bool detour() const noexcept {
        return busy_elsewhere || timeline->failed() || queue_dead->load(std::memory_order_relaxed);
    }

    /// Room for the arguments, with the mutex locked; null: begin the long way.
    [[gnu::always_inline]] std::byte* try_begin(std::size_t kernarg_bytes) noexcept {
        if (!mutex.try_lock()) return nullptr;
        if (!detour()) [[likely]]
            if (std::byte* kernarg = kernargs.try_reserve(kernarg_bytes)) return kernarg;
        mutex.unlock();
        return nullptr;
    }

    /// Enqueues the kernel. False: nothing happened, commit the long way.
    [[gnu::always_inline]] bool try_commit(const DispatchSpec& spec, std::byte* kernarg) noexcept {
        if (busy_elsewhere || timeline->submitted() - completed_seen >= packets) return false;
        const auto slot = ring->try_reserve(1);
        if (!slot) return false;
        const std::uint64_t epoch = timeline->submit(*slot);
        write(*slot, spec, kernarg);
        ring->publish(*slot, 1);
        kernargs.commit(epoch);
        return true;
    }

    /// packet.hpp's kernel_dispatch(), word by word into the ring: the same packet, a test says, with half the
    /// instructions.
    [[gnu::always_inline]] void write(std::uint64_t slot, const DispatchSpec& spec, std::byte* kernarg) noexcept {
        Packet& packet = ring->slot(slot);
        std::uint32_t* words = packet.words.data();
        words[1] = spec.workgroup.x | spec.workgroup.y << 16;
        words[2] = spec.workgroup.z;
        words[3] = spec.grid.x;
        words[4] = spec.grid.y;
        words[5] = spec.grid.z;
        words[6] = spec.private_segment_bytes;
        words[7] = spec.group_segment_bytes;
        const std::uint64_t tail[] = {spec.kernel_object, reinterpret_cast<std::uintptr_t>(kernarg), 0, completion};
        std::memcpy(words + 8, tail, sizeof tail);
        // The grid has at least the dimensions of the work-group, which is no larger than it.
        const std::uint32_t dimensions = spec.grid.z != 1 ? 3 : spec.grid.y != 1 ? 2 : 1;
        constexpr std::uint32_t header = packet_header(PacketType::kernel_dispatch, {});
        std::atomic_ref(words[0]).store(dimensions << 16 | header, std::memory_order_release);
    }
};

}  // namespace hsadrv::detail
