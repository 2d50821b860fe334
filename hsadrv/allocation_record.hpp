// What is remembered of an allocation: for messages about faults, and for what was never freed.
//
//   catch (const hsadrv::MemoryFault& fault) {
//       if (fault.nearest()) log(fault.nearest()->text());
//       // "96 B behind the end of 4000 B at 0x… (gpu0 …, main.cpp:12)"
//   }
//   for (const auto& record : hsadrv::live_allocations()) …
//   std::fputs(hsadrv::leak_report().c_str(), stderr);       // or HSADRV_LEAK_REPORT=1: at exit
//
// Noted when memory is taken from a pool and given back, off the launch path: one short lock. An Allocator's
// blocks count as the chunks that they were cut from. Thread safety: any thread.
#pragma once

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
    std::source_location where = {};  ///< who asked for it
    bool freed = false;
};

struct NearestAllocation {
    AllocationRecord record;
    std::int64_t distance_bytes = 0;  ///< 0: within it; negative: before its beginning; positive: behind its last byte

    /// "within 4096 B at 0x… (gpu0 gfx90a coarse-grained, main.cpp:12), which were freed"
    std::string text() const;
};

/// What has been allocated and not freed, by address.
std::vector<AllocationRecord> live_allocations();

/// The same for people, by where it was allocated, most bytes first; empty if nothing is left.
std::string leak_report();

namespace detail::allocations {

void enter(const void* data, std::size_t size_bytes, std::string label, const std::source_location& where);
bool is_live(const void* data) noexcept;
/// It is freed, or given up to somebody else (`forget`: then nothing is known of it).
void leave(const void* data, bool forget = false) noexcept;

}  // namespace detail::allocations
}  // namespace hsadrv
