// Memory for arrays and other objects from an allocator of the caller's.
//
//   auto pool = std::make_shared<hsadrv::AllocatorResource>(hsadrv::device_pool(gpu));
//   auto a = hsadrv::device_array({n}, dtypes::float32, {}, stream, pool);              // devicearray
//
//   hsadrv::PinnedResource pinned;                                                   // for the standard's containers
//   std::pmr::unsynchronized_pool_resource small(&pinned);
//   std::pmr::vector<float> host(n, &small);                                            // GPUs access it in place
//
// To use another pool (rmm's, a framework's), derive from MemoryResource. Keeps alive: arrays keep their resource.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <unordered_map>

#include "hsadrv/allocator.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

/// Where arrays get their memory. Called from any thread.
class MemoryResource {
  public:
    virtual ~MemoryResource();

    /// At least one byte, at a multiple of `alignment`, a power of two; the stream's GPU accesses it at that address.
    /// Other streams may use it at once. Throws OutOfMemory, or anything else, which the caller of device_array gets.
    virtual void* allocate(std::size_t size_bytes, std::size_t alignment, Stream& stream) = 0;

    /// With the numbers of allocate(). All work that streams were given with the memory is complete, so there is no
    /// stream to order it in: another stream may use the memory at once. May be called by a stream's operations and by
    /// the library's threads: it must not use a stream or wait for one.
    virtual void deallocate(void* data, std::size_t size_bytes, std::size_t alignment) noexcept = 0;
};

/// A pool of its own: the blocks of an Allocator. Throws InvalidArgument for an alignment of more than 256 bytes, and
/// for a stream of a GPU that does not access the pool: another than a device pool's.
class AllocatorResource final : public MemoryResource {
  public:
    explicit AllocatorResource(const MemPool& pool, const AllocatorOptions& options = {});
    void* allocate(std::size_t size_bytes, std::size_t alignment, Stream& stream) override;
    void deallocate(void* data, std::size_t size_bytes, std::size_t alignment) noexcept override;
    const Allocator& allocator() const noexcept { return allocator_; }

  private:
    AgentRef owner_;  // of the pool
    Allocator allocator_;
    std::mutex mutex_;
    std::unordered_map<void*, Block> blocks_;
};

/// Memory of a standard resource, which must be safe to call from any thread and outlive this. Throws InvalidArgument
/// for memory that the stream's GPU cannot access at its own address: give it a PinnedResource upstream.
class PmrResource final : public MemoryResource {
  public:
    explicit PmrResource(std::pmr::memory_resource& upstream) noexcept : upstream_(upstream) {}
    void* allocate(std::size_t size_bytes, std::size_t alignment, Stream& stream) override;
    void deallocate(void* data, std::size_t size_bytes, std::size_t alignment) noexcept override;

  private:
    std::pmr::memory_resource& upstream_;
};

/// Pinned host memory, that the CPU and all GPUs access, as a resource of the standard library. Each allocation is a
/// call of the runtime and takes whole pages, so put a std::pmr pool over it. Its memory must not be freed while work
/// in flight uses it. Throws OutOfMemory; InvalidArgument for an alignment of more than a page. Thread safety: any
/// thread.
class PinnedResource final : public std::pmr::memory_resource {
  public:
    explicit PinnedResource(HostMemory kind = HostMemory::fine_grained) : pool_(host_pool(kind)) {}
    ~PinnedResource() override;

  private:
    void* do_allocate(std::size_t size_bytes, std::size_t alignment) override;
    void do_deallocate(void* data, std::size_t size_bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    MemPool pool_;
    std::mutex mutex_;
    std::unordered_map<void*, Allocation> allocations_;
};

}  // namespace hsadrv
