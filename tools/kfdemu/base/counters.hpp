// What the device did, for those who test on it (kfdemu.h says what each counts).
//
//     counters.dispatches += 1;
//
// Thread safety: any thread. Memory ordering: relaxed, since a count orders nothing; whoever saw the end of a
// piece of work through a signal sees its counts, too, because they are added before the signal's release.
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
    Counter buffers;  // goes down, too
};

inline Counters counters;

}  // namespace kfdemu
