// Event counters of the device, for tests; kfdemu.h documents each.
//
//     counters.dispatches += 1;
//
// Thread safety: any thread. Memory ordering: relaxed. Counts are added before the release of the completion signal, so
// a thread that observed the signal also sees the counts of that work.
#pragma once

#include <atomic>
#include <cstdint>

namespace kfdemu {

class Counter {
  public:
    void operator+=(std::uint64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
    void operator-=(std::uint64_t n) { value_.fetch_sub(n, std::memory_order_relaxed); }
    operator std::uint64_t() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

struct Counters {
    Counter packets, dispatches, work_groups, waves, instructions, sdma_packets, sdma_bytes;
    Counter ioctls, allocations, mappings, interrupts, faults, injected;
    Counter buffers;  // decreases, too
};

inline Counters counters;

}  // namespace kfdemu
