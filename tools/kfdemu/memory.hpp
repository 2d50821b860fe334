// Device memory as KFD hands it out: allocations of VRAM, system memory and user pages, and to which GPUs
// they are mapped.
//
//     auto handle = memory.allocate(gpu, request, mmap_offset);   // ALLOC_MEMORY_OF_GPU
//     memory.map(*handle, gpu);                                   // MAP_MEMORY_TO_GPU: the device reaches it
//     now
//
// A GPU's virtual address is the process's own. Errors are errno values, as the kernel's ioctls give them.
// Thread safety: every function, any thread. map() and unmap() wait for the GPUs' running quanta (see
// AddressSpace).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "abi.hpp"
#include "address_space.hpp"
#include "device_file.hpp"
#include "topology.hpp"

namespace kfdemu {

class Memory {
  public:
    /// `render` has a file for each GPU; `kfd` is the file of /dev/kfd. `spaces` has an address space for
    /// each GPU. All must outlive this.
    Memory(const Topology& topology, std::vector<DeviceFile*> render, DeviceFile& kfd,
           std::vector<AddressSpace*> spaces);
    ~Memory();

    /// Fills in request.handle and request.mmap_offset; 0 or an errno value.
    int allocate(abi::AllocMemoryOfGpu& request);
    int free(std::uint64_t handle);
    int map(std::uint64_t handle, unsigned gpu);
    int unmap(std::uint64_t handle, unsigned gpu);

    std::uint64_t vram_available(unsigned gpu) const;

    struct Found {
        unsigned gpu;
        std::uint64_t va, size_bytes;
    };
    /// The VRAM allocation that holds a GPU virtual address. Never waits: nothing if the table is being
    /// changed.
    std::optional<Found> find_vram(std::uint64_t va) const;

    /// Where the runtime puts queues' scratch memory (SET_SCRATCH_BACKING_VA).
    void set_scratch(unsigned gpu, std::uint64_t va);

    /// The doorbell page of a GPU: where it lies in the KFD file, and the emulator's view.
    const DeviceFile::Range& doorbells(unsigned gpu) const { return doorbells_[gpu]; }

  private:
    struct Allocation {
        unsigned gpu;
        std::uint32_t flags;
        std::uint64_t va, size;
        std::byte* host;
        DeviceFile* file = nullptr;  // whose range it is; nullptr: user pages or a fixed page
        DeviceFile::Range range{};
        std::set<unsigned> mapped{};
    };

    int asked_to_fail(const abi::AllocMemoryOfGpu& request, unsigned gpu) const;
    int place(Allocation& allocation, abi::AllocMemoryOfGpu& request);

    const Topology& topology_;
    std::vector<DeviceFile*> render_;
    DeviceFile& kfd_;
    std::vector<AddressSpace*> spaces_;
    std::vector<DeviceFile::Range> doorbells_, mmio_;

    mutable std::mutex mutex_;
    std::map<std::uint64_t, Allocation> allocations_;
    std::vector<std::uint64_t> vram_used_;
    std::vector<std::uint64_t> scratch_va_;
    std::uint64_t next_handle_ = 1;
};

inline constexpr std::uint64_t kDoorbellPageBytes =
    8192;  ///< 1024 doorbells of 8 bytes, as the thunk assumes

}  // namespace kfdemu
