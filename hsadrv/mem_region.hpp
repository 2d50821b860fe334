// MemRegion: an agent's memory region in terms of the HSA core specification, with a segment and flags.
//
//   for (hsadrv::MemRegion region : agent.regions())
//       if (region.segment() == hsadrv::Segment::group) lds = region.size_bytes();
//
// Pools (mem_pool.hpp) are AMD's more detailed view of the same memory; allocations are made from pools.
// Borrows: the runtime, until the last Driver is destroyed. Thread safety: any thread. Throws: Error if a query
// fails. Source: hsa.h, "Memory", hsa_region_info_t.
#pragma once

#include "shared/cpp20.hpp"

#include <hsa/hsa.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace hsadrv {

enum class Segment { global, readonly, private_segment, group, kernarg };
const char* segment_name(Segment segment) noexcept;

/// Coherence of a global region or pool. Coarse-grained: writes are visible to other agents at kernel boundaries.
/// Fine-grained: they are visible at once.
struct GlobalFlags {
    bool kernarg = false;
    bool fine_grained = false;
    bool coarse_grained = false;
    bool extended_scope = false;  ///< fine-grained for atomics of every scope; since ROCR 6.1
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
    /// Maximum private memory of one work-group; std::nullopt for a region of another segment.
    std::optional<std::uint32_t> alloc_max_private_bytes_per_workgroup() const;
    /// The region's start in the host's address space; null if the host cannot access the whole region.
    void* base_address() const;
    std::uint32_t bus_width_bits() const;
    std::uint32_t max_clock_mhz() const;

  private:
    hsa_region_t native_;
};

}  // namespace hsadrv
