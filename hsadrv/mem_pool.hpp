// A pool of memory of one kind, owned by one agent: where allocations come from.
//
//   hsadrv::MemPool pool = hsadrv::device_pool(gpu);           // coarse-grained device memory
//   hsadrv::Allocation a = hsadrv::Allocation::from_pool(pool, 1 << 20);
//
// Borrows: the runtime, until the last Driver is gone. Thread safety: any thread. Throws: Error on a refused
// query. Source: hsa_ext_amd.h, "Memory pools", hsa_amd_memory_pool_info_t.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <optional>
#include <string>

#include "hsadrv/agent.hpp"
#include "hsadrv/mem_region.hpp"

namespace hsadrv {

/// May an agent use the memory of a pool?
enum class PoolAccess { never, disallowed_by_default, allowed_by_default };

/// Where the memory of a pool is.
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
    /// The size in multiples of which no memory is wasted: the runtime's own blocks. The granule where the runtime
    /// does not tell (before ROCR 6.2).
    std::size_t alloc_recommended_granule_bytes() const;
    bool accessible_by_all() const;
    PoolAccess access(AgentRef agent) const;
    PoolLocation location() const;
    /// Bytes that could still be allocated, from all pools of the owner together. Nothing where the runtime does not
    /// tell: before ROCR 5.5, and for the host's memory.
    std::optional<std::size_t> available_bytes() const;

    /// How messages call it: "gpu0 gfx90a coarse-grained".
    std::string label() const;

  private:
    hsa_amd_memory_pool_t native_;
    AgentRef owner_;
};

/// The coarse-grained pool of a GPU: device memory. Throws Error if it has none.
MemPool device_pool(AgentRef gpu);

/// The fine-grained pool of a GPU, for memory that host and device share while kernels run; not every GPU has one.
std::optional<MemPool> device_fine_pool(AgentRef gpu);

/// Which host memory. Both are pinned when allocated from; kernarg is where argument blocks live.
enum class HostMemory { fine_grained, coarse_grained, kernarg };

/// A pool of the first CPU agent. Throws Error if the runtime offers none of that kind.
MemPool host_pool(HostMemory kind = HostMemory::fine_grained);

}  // namespace hsadrv
