// The slots of a ring that its write index covers, whatever the doorbell says; for the strict behaviour write-index.
//
//     slots.look(space, next);                // at any time, but `next`, the first that is not taken, does not change
//     std::uint64_t number = slots.early();   // of those that were not written when the write index covered them
//
// Firmware reads the write index when it maps a queue again, and takes what lies below (ROCm/rocm-systems, pull
// requests 10367 and 10377). The header of a slot that is not written is INVALID, as the packet processor has left it.
// Each such slot is counted once; the first of a ring is logged, with the calls that made the ring.
//
// Thread safety: look() by one thread at a time; early() by any. Requires a Hold of the address space.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/address_space.hpp"
#include "check/host_stack.hpp"

namespace kfdemu {

class AdvertisedSlots {
  public:
    /// Addresses of the write index, of the ring and of nothing else. Captures the calling thread's stack.
    AdvertisedSlots(unsigned gpu, std::uint64_t write_index_va, std::uint64_t ring_va, std::uint64_t packets);

    void look(const AddressSpace& space, std::uint64_t next);
    std::uint64_t early() const { return early_.load(std::memory_order_relaxed); }

  private:
    bool is_written(const AddressSpace& space, std::uint64_t index) const;
    void report(std::uint64_t index, std::uint64_t write_index);

    const unsigned gpu_;
    const std::uint64_t write_index_, ring_, packets_;
    const check::StackId made_;
    std::uint64_t written_ = 0;  // all below it are, or were taken
    std::uint64_t counted_ = 0;  // all below it are counted if they were early
    std::atomic<std::uint64_t> early_{0};
};

}  // namespace kfdemu
