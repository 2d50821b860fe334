// Memory as the HSA core specification sees it: a region of an agent, with a segment and flags.
//
//   for (hsadrv::MemRegion region : agent.regions())
//       if (region.segment() == hsadrv::Segment::group) lds = region.size_bytes();
//
// Pools (mem_pool.hpp) are AMD's finer view of the same memory and what allocations are made from.
// Borrows: the runtime, until the last Driver is gone. Thread safety: any thread. Throws: Error on a refused
// query. Source: hsa.h, "Memory", hsa_region_info_t.
#pragma once

#include <hsa/hsa.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace hsadrv {

enum class Segment { global, readonly, private_segment, group, kernarg };
const char* segment_name(Segment segment) noexcept;

/// What a global region or pool promises. Coarse: visible to others at kernel boundaries; fine: as it is written.
struct GlobalFlags {
    bool kernarg = false;
    bool fine_grained = false;
    bool coarse_grained = false;
    bool extended_scope = false;  ///< fine-grained for atomics of every scope, too; ROCR 6.1 on
    friend constexpr bool operator==(GlobalFlags, GlobalFlags) noexcept = default;
    std::string text() const;  ///< "fine-grained kernarg", "coarse-grained", "extended-scope fine-grained", ""
};

class MemRegion {
  public:
    explicit MemRegion(hsa_region_t native) noexcept : native_(native) {}
    hsa_region_t native() const noexcept { return native_; }

    Segment segment() const;
    GlobalFlags global_flags() const;
    std::size_t size_bytes() const;
    std::size_t alloc_max_bytes() const;
    bool alloc_allowed() const;
    std::size_t alloc_granule_bytes() const;
    std::size_t alloc_alignment_bytes() const;
    bool host_accessible() const;
    /// Bytes of private memory that one work-group may ask for; nothing for a region that is not private.
    std::optional<std::uint32_t> alloc_max_private_bytes_per_workgroup() const;
    /// Where the region begins in the host's address space; null if the host does not see all of it.
    void* base_address() const;
    std::uint32_t bus_width_bits() const;
    std::uint32_t max_clock_mhz() const;

  private:
    hsa_region_t native_;
};

}  // namespace hsadrv
