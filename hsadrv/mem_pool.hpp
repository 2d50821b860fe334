// MemPool: an agent's memory pool, from which allocations are made.
//
//   hsadrv::MemPool pool = hsadrv::device_pool(gpu);           // coarse-grained device memory
//   hsadrv::Allocation a = hsadrv::Allocation::from_pool(pool, 1 << 20);
//
// Borrows: the runtime, until the last Driver is destroyed. Thread safety: any thread. Throws: Error if a query
// fails. Source: hsa_ext_amd.h, "Memory pools", hsa_amd_memory_pool_info_t.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <optional>
#include <string>

#include "hsadrv/agent.hpp"
#include "hsadrv/mem_region.hpp"

namespace hsadrv {

/// An agent's access to the memory of a pool: hsa_amd_memory_pool_access_t.
enum class PoolAccess { never, disallowed_by_default, allowed_by_default };

/// The physical location of a pool's memory.
enum class PoolLocation { host, device };

class MemPool {
  public:
    MemPool(hsa_amd_memory_pool_t native, AgentRef owner) noexcept : native_(native), owner_(owner) {}
    hsa_amd_memory_pool_t native() const noexcept { return native_; }
    AgentRef owner() const noexcept { return owner_; }

    Segment segment() const;
    GlobalFlags global_flags() const;
    std::size_t size_bytes() const;
    std::size_t alloc_max_bytes() const;
    bool alloc_allowed() const;
    std::size_t alloc_granule_bytes() const;
    std::size_t alloc_alignment_bytes() const;
    /// The size of the runtime's blocks: allocations in multiples of it waste no memory. alloc_granule_bytes() if the
    /// runtime does not report it (before ROCR 6.2).
    std::size_t alloc_recommended_granule_bytes() const;
    bool accessible_by_all() const;
    PoolAccess access(AgentRef agent) const;
    PoolLocation location() const;
    /// Bytes that can still be allocated from all pools of the owner together. std::nullopt if the runtime does not
    /// report it: before ROCR 5.5, and for host memory.
    std::optional<std::size_t> available_bytes() const;

    /// The pool's name in messages: "gpu0 gfx90a coarse-grained".
    std::string label() const;

  private:
    hsa_amd_memory_pool_t native_;
    AgentRef owner_;
};

/// The coarse-grained pool of a GPU: device memory. Throws Error if it has none.
MemPool device_pool(AgentRef gpu);

/// The fine-grained pool of a GPU, for memory that host and device share while kernels run; not every GPU has one.
std::optional<MemPool> device_fine_pool(AgentRef gpu);

/// Kinds of host memory. Allocations of each kind are pinned; kernarg memory is for kernel arguments.
enum class HostMemory { fine_grained, coarse_grained, kernarg };

/// A pool of the first CPU agent. Throws Error if the runtime has none of that kind.
MemPool host_pool(HostMemory kind = HostMemory::fine_grained);

}  // namespace hsadrv
