// Internal: device memory that kernels allocate and free through the host, for one GPU.
//
//     void* block = memory.allocate(size_bytes);   // null if there is none
//     memory.free(block);
//
// Blocks live until a kernel frees them, or until the runtime ends: they may be passed from kernel to kernel. Requests
// of the size of a slab are aligned to it, because the device library's allocator finds a slab's start from an address.
// Thread safety: none. Source: ROCm-Device-Libs, ockl/src/dm.cl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

class KernelMemory {
  public:
    explicit KernelMemory(AgentRef gpu) noexcept : gpu_(gpu) {}
    KernelMemory(const KernelMemory&) = delete;
    KernelMemory& operator=(const KernelMemory&) = delete;
    ~KernelMemory();

    static constexpr std::size_t slab_bytes = std::size_t{2} << 20;

    void* allocate(std::size_t size_bytes) noexcept;
    /// False: it is not the address of a block.
    bool free(const void* block) noexcept;
    /// The slab that follows `used` in a class of blocks; the same whenever it is asked for. 0 precedes the first.
    void* slab_after(std::uint64_t block_class, std::uint64_t used) noexcept;
    /// Zeros. Throws OutOfMemory.
    void* allocate_zeros(std::size_t size_bytes);

  private:
    void clear(void* block, std::size_t size_bytes) const;

    AgentRef gpu_;
    std::map<std::uintptr_t, void*> blocks_;  // by address, the address that the runtime returned
    std::map<std::pair<std::uint64_t, std::uint64_t>, void*> slabs_;  // by class and the slab before
};

}  // namespace hsadrv::detail
