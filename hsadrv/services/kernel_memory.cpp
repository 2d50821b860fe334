#include "hsadrv/services/kernel_memory.hpp"

#include <hsa/hsa_ext_amd.h>

#include <chrono>
#include <cstring>
#include <new>
#include <string>

#include "hsadrv/dma_copy.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv::detail {

// Not Allocations, which keep the runtime alive: the runtime owns these.
KernelMemory::~KernelMemory() {
    for (const auto& [address, native] : blocks_) hsa_amd_memory_pool_free(native);
}

void* KernelMemory::allocate(std::size_t size_bytes) noexcept {
    const std::size_t align = size_bytes >= slab_bytes ? slab_bytes : 1;
    std::size_t padded = 0;
    try {
        const auto pool = device_pool(gpu_).native();
        // The runtime aligns large blocks, but does not promise it: pad only those that it did not align.
        for (const std::size_t padding : {std::size_t{0}, align}) {
            void* native = nullptr;
            if (size_bytes == 0 || __builtin_add_overflow(size_bytes, padding, &padded) ||
                hsa_amd_memory_pool_allocate(pool, padded, 0, &native) != HSA_STATUS_SUCCESS)
                return nullptr;
            const auto address = (reinterpret_cast<std::uintptr_t>(native) + align - 1) / align * align;
            if (padding == 0 && address != reinterpret_cast<std::uintptr_t>(native)) {
                hsa_amd_memory_pool_free(native);
                continue;
            }
            try {
                blocks_.emplace(address, native);
            } catch (const std::bad_alloc&) {
                hsa_amd_memory_pool_free(native);
                return nullptr;
            }
            return reinterpret_cast<void*>(address);
        }
    } catch (const std::exception&) {  // the pool cannot be queried
    }
    return nullptr;
}

bool KernelMemory::free(const void* block) noexcept {
    const auto at = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
    if (at == blocks_.end()) return false;
    hsa_amd_memory_pool_free(at->second);
    blocks_.erase(at);
    return true;
}

void* KernelMemory::slab_after(std::uint64_t block_class, std::uint64_t used) noexcept {
    const auto known = slabs_.find({block_class, used});
    if (known != slabs_.end()) return known->second;
    void* const slab = allocate(slab_bytes);
    if (!slab) return nullptr;
    try {
        slabs_.emplace(std::pair(block_class, used), slab);
    } catch (const std::bad_alloc&) {
        free(slab);
        return nullptr;
    }
    return slab;
}

// Not hsa_amd_memory_fill, which never returns if the GPU is lost meanwhile.
void KernelMemory::clear(void* block, std::size_t size_bytes) const {
    Allocation zeros = Allocation::from_pool(host_pool(), size_bytes);
    std::memset(zeros.data(), 0, size_bytes);
    Signal done = Signal::create(1);
    dma_copy({block, gpu_}, {zeros.data(), Driver::current().cpus().front()}, size_bytes, done);
    while (!done.try_wait(Condition::less, 1, std::chrono::milliseconds(100)))
        if (const auto fault = faults::of(gpu_)) {
            static_cast<void>(zeros.release());  // the engine may still have them
            static_cast<void>(done.release());
            throw fault->lost("the services of a kernel");
        }
}

void* KernelMemory::allocate_zeros(std::size_t size_bytes) {
    void* const block = allocate(size_bytes);
    if (!block)
        throw OutOfMemory(
            "memory for the services of kernels on " + gpu_.label() + ": " + std::to_string(size_bytes) + " B",
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    try {
        clear(block, size_bytes);
    } catch (...) {
        if (!faults::of(gpu_)) free(block);  // else the engine may still write to it
        throw;
    }
    return block;
}

}  // namespace hsadrv::detail
