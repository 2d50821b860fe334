// The record of an allocation, for messages about memory faults and for leak reports.
//
//   catch (const hsadrv::MemoryFault& fault) {
//       if (fault.nearest()) log(fault.nearest()->text());
//       // "96 B past the end of 4000 B at 0x… (gpu0 …, main.cpp:12)"
//   }
//   for (const auto& record : hsadrv::live_allocations()) …
//   std::fputs(hsadrv::leak_report().c_str(), stderr);       // or HSADRV_LEAK_REPORT=1: at exit
//
// Recorded when memory is allocated from a pool and freed, off the launch path, under one short lock. An Allocator's
// blocks are recorded as the chunks that they were cut from. Thread safety: any thread.
#pragma once

#include "shared/cpp20.hpp"

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace hsadrv {

struct AllocationRecord {
    std::uint64_t begin = 0;
    std::size_t size_bytes = 0;
    std::string label = {};           ///< of the pool: "gpu0 gfx90a coarse-grained"
    std::source_location where = {};  ///< where it was allocated
    bool freed = false;
};

struct NearestAllocation {
    AllocationRecord record;
    std::int64_t distance_bytes = 0;  ///< 0: within it; negative: before its first byte; positive: after its last byte

    /// "within 4096 B at 0x… (gpu0 gfx90a coarse-grained, main.cpp:12), which were freed"
    std::string text() const;
};

/// Allocations that have not been freed, by address.
std::vector<AllocationRecord> live_allocations();

/// The same as text, grouped by source location, most bytes first; empty if there are none.
std::string leak_report();

namespace detail::allocations {

void enter(const void* data, std::size_t size_bytes, std::string label, const std::source_location& where);
bool is_live(const void* data) noexcept;
/// Records a free. `forget`: ownership was released, so the record is dropped.
void leave(const void* data, bool forget = false) noexcept;

}  // namespace detail::allocations
}  // namespace hsadrv
