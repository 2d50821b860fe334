// Memory that agents can use: allocations from pools, and what an address is.
//
//   auto buffer = hsadrv::Allocation::from_pool(hsadrv::device_pool(gpu), 4096);
//   assert(hsadrv::pointer_info(buffer.data()).owner == gpu);
//
// Owns: Allocation its memory, and keeps the runtime alive. It does not wait: memory that a stream still uses
// must be handed to Stream::keep_alive or Stream::release, which free it when the work is done. Thread safety:
// distinct objects from any thread; one object as any value. Source: hsa_ext_amd.h,
// hsa_amd_memory_pool_allocate, hsa_amd_pointer_info.
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
    /// Nothing: data() is null, size_bytes() zero.
    Allocation() noexcept = default;

    /// Zero bytes give an empty allocation. Device memory is usable by its owner; host memory by the CPU and
    /// all GPUs. Throws OutOfMemory with what was asked for and what the pool has.
    static Allocation from_pool(const MemPool& pool, std::size_t size_bytes,
                                std::source_location where = std::source_location::current());

    /// Adopts memory that hsa_amd_memory_pool_allocate returned. Throws InvalidArgument for an address that is none, or
    /// lies within one, for more bytes than it has and for another owner: to free those would be to free
    /// something else.
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

    /// Gives the memory up: the caller frees it with hsa_amd_memory_pool_free.
    void* release() noexcept {
        if (memory_ && !in_forked_child()) detail::allocations::leave(memory_.get(), true);
        size_bytes_ = 0;
        return memory_.release();
    }

    /// As a kernel's argument it is its address; see kernel_args.hpp.
    friend void* kernel_argument(const Allocation& allocation) noexcept { return allocation.data(); }

  private:
    Allocation(const Driver& driver, void* data, std::size_t size_bytes, AgentRef owner) noexcept
        : memory_(data, driver), size_bytes_(size_bytes), owner_(owner) {}

    UniqueHandle<AllocationTraits> memory_;
    std::size_t size_bytes_ = 0;
    AgentRef owner_;
};

/// Lets agents use an allocation, in addition to those that already may. (The runtime's own call replaces the list.)
/// Throws InvalidArgument for what is no allocation and for an agent that never can: PoolAccess::never.
void allow_access(void* allocation, std::span<const AgentRef> agents);
/// Replaces the list: these agents, the owner and, for host memory, the CPU. What is smaller than the runtime's own
/// blocks (MemPool::alloc_recommended_granule_bytes) shares one with others, and loses no agent.
void set_access(void* allocation, std::span<const AgentRef> agents);

/// What an address belongs to.
struct PointerInfo {
    enum class Kind { pageable, pool, registered, other };  ///< pageable: nothing that HSA knows of
    Kind kind = Kind::pageable;
    AgentRef owner;                    ///< a CPU for host memory, registered memory included
    GlobalFlags flags;                 ///< what the memory promises: fine- or coarse-grained, and whether for arguments
    void* host_base = nullptr;         ///< where the host sees the block; null if it cannot
    void* agent_base = nullptr;        ///< where agents see it
    std::size_t size_bytes = 0;        ///< of the whole block
    std::vector<AgentRef> accessible;  ///< agents that it is mapped for: GPUs; of the CPU, host_memory() tells

    bool device_memory() const;
    bool accessible_by(AgentRef agent) const noexcept;
    /// The pool that the memory came from; nothing for other memory.
    std::optional<MemPool> pool() const;
    /// Does the CPU reach it? Pageable, pinned and registered memory; device memory is left to the engines.
    bool host_memory() const { return kind == Kind::pageable || (kind != Kind::other && !device_memory()); }
    /// The agents' address for `pointer`, which is a host or an agent address within the block.
    void* agent_address(const void* pointer) const noexcept;
    /// The host's address for it; for host memory.
    void* host_address(const void* pointer) const noexcept;
    /// Bytes from `pointer` to the end of the block.
    std::size_t bytes_after(const void* pointer) const noexcept;
};

/// Where registered ranges overlap, the one that reaches furthest beyond the pointer.
PointerInfo pointer_info(const void* pointer);

}  // namespace hsadrv
