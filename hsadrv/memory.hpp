// Memory that agents can use: allocations from memory pools, and queries about a pointer.
//
//   auto buffer = hsadrv::Allocation::from_pool(hsadrv::device_pool(gpu), 4096);
//   assert(hsadrv::pointer_info(buffer.data()).owner == gpu);
//
// Owns: an Allocation owns its memory. Keeps alive: the runtime. The destructor does not wait for the device: pass
// memory that a stream still uses to Stream::keep_alive or Stream::release, which free it when the work is done.
// Thread safety: distinct objects, and const functions of one object, from any thread. Source:
// hsa_ext_amd.h, hsa_amd_memory_pool_allocate, hsa_amd_pointer_info.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/allocation_record.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/registration.hpp"

namespace hsadrv {

struct AllocationTraits {
    using Native = void*;
    static Native null() noexcept { return nullptr; }
    static bool is_null(Native p) noexcept { return p == nullptr; }
    static void destroy(Native p) noexcept;
};

/// A block of memory from a pool, aligned to the pool's granule (4096 bytes or more).
class Allocation {
  public:
    /// Empty: data() is null, size_bytes() is zero.
    Allocation() noexcept = default;

    /// Zero bytes give an empty allocation. Device memory is accessible to its owner; host memory to the CPU and
    /// all GPUs. Throws OutOfMemory with the requested size and what the pool has.
    static Allocation from_pool(const MemPool& pool, std::size_t size_bytes,
                                std::source_location where = std::source_location::current());

    /// Adopts memory that hsa_amd_memory_pool_allocate returned. Throws InvalidArgument unless
    /// `data` is the start of an allocation of `owner` with at least `size_bytes`: otherwise the destructor would free
    /// other memory.
    static Allocation from_native(void* data, std::size_t size_bytes, AgentRef owner,
                                  std::source_location where = std::source_location::current());

    void* data() const noexcept { return memory_.get(); }
    template <class T>
    T* as() const noexcept {
        return static_cast<T*>(data());
    }
    std::size_t size_bytes() const noexcept { return size_bytes_; }
    AgentRef owner() const noexcept { return owner_; }
    explicit operator bool() const noexcept { return bool(memory_); }

    /// Releases ownership: the caller frees the memory with hsa_amd_memory_pool_free.
    void* release() noexcept {
        if (memory_ && !in_forked_child()) detail::allocations::leave(memory_.get(), true);
        size_bytes_ = 0;
        return memory_.release();
    }

    /// As a kernel argument, an allocation is its address; see kernel_args.hpp.
    friend void* kernel_argument(const Allocation& allocation) noexcept { return allocation.data(); }

  private:
    Allocation(const Driver& driver, void* data, std::size_t size_bytes, AgentRef owner) noexcept
        : memory_(data, driver), size_bytes_(size_bytes), owner_(owner) {}

    UniqueHandle<AllocationTraits> memory_;
    std::size_t size_bytes_ = 0;
    AgentRef owner_;
};

/// Grants agents access to an allocation, in addition to those that already have it. (The runtime's own call replaces
/// the list.) Throws InvalidArgument if `allocation` is not an allocation, or for an agent with PoolAccess::never.
void allow_access(void* allocation, std::span<const AgentRef> agents);
/// Replaces the access list: these agents, the owner and, for host memory, the CPU. An allocation smaller than the
/// runtime's blocks (MemPool::alloc_recommended_granule_bytes) shares a block with others; it keeps all its agents.
void set_access(void* allocation, std::span<const AgentRef> agents);

/// What an address belongs to.
struct PointerInfo {
    enum class Kind { pageable, pool, registered, other };  ///< pageable: memory unknown to HSA
    Kind kind = Kind::pageable;
    AgentRef owner;                    ///< a CPU for host memory, registered memory included
    GlobalFlags flags;                 ///< fine- or coarse-grained, and whether for kernel arguments
    void* host_base = nullptr;         ///< the block's host address; null if it has none
    void* agent_base = nullptr;        ///< the block's agent address
    std::size_t size_bytes = 0;        ///< of the whole block
    std::vector<AgentRef> accessible;  ///< GPUs that it is mapped for; for the CPU see host_memory()

    bool device_memory() const;
    bool accessible_by(AgentRef agent) const noexcept;
    /// The pool that the memory was allocated from; std::nullopt for other memory. If a GPU has both, the first of its
    /// fine-grained pools, of extended scope or not: the runtime does not tell.
    std::optional<MemPool> pool() const;
    /// True for memory that the CPU can access: pageable, pinned and registered. Device memory is left to DMA engines.
    bool host_memory() const { return kind == Kind::pageable || (kind != Kind::other && !device_memory()); }
    /// The agents' address for `pointer`, which is a host or an agent address within the block.
    void* agent_address(const void* pointer) const noexcept;
    /// The host's address for `pointer`; for host memory.
    void* host_address(const void* pointer) const noexcept;
    /// Bytes from `pointer` to the end of the block.
    std::size_t bytes_after(const void* pointer) const noexcept;
};

/// If registered ranges overlap, reports the one that extends furthest past the pointer.
PointerInfo pointer_info(const void* pointer);

}  // namespace hsadrv
