// KFD's memory allocations: VRAM, system memory and user pages, and the GPUs to which each is mapped.
//
//     auto handle = memory.allocate(gpu, request, mmap_offset);   // ALLOC_MEMORY_OF_GPU
//     memory.map(*handle, gpu);                                   // MAP_MEMORY_TO_GPU: the device can access it
//
// GPU virtual addresses equal the process's addresses. Errors are errno values, as returned by the kernel's ioctls.
// Thread safety: every function, any thread. map() and unmap() wait for the GPUs' running quanta (see AddressSpace).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "tools/kfdemu/base/abi.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/resources/buffer.hpp"
#include "tools/kfdemu/resources/device_file.hpp"

namespace kfdemu {

class Memory {
  public:
    /// `render`: one file per GPU. `kfd`: the file of /dev/kfd. `spaces`: one address space per GPU.
    /// Borrows: all arguments, until destroyed.
    Memory(const Topology& topology, std::vector<DeviceFile*> render, DeviceFile& kfd,
           std::vector<AddressSpace*> spaces);
    ~Memory();

    /// Fills in request.handle and request.mmap_offset; 0 or an errno value.
    int allocate(abi::AllocMemoryOfGpu& request);
    int free(std::uint64_t handle);
    int map(std::uint64_t handle, unsigned gpu);
    int unmap(std::uint64_t handle, unsigned gpu);

    /// A buffer without an address, which no KFD handle names (GEM_CREATE); 0 or an errno value.
    int create(unsigned gpu, std::uint64_t size_bytes, std::uint32_t flags, bool cleared,
               std::shared_ptr<Buffer>& created);

    /// The buffer of a KFD handle, or nullptr.
    std::shared_ptr<Buffer> find_buffer(std::uint64_t handle) const;

    std::uint64_t vram_available(unsigned gpu) const;
    MemoryUse used(unsigned gpu) const;

    struct Found {
        unsigned gpu;
        std::uint64_t va, size_bytes;
    };
    /// The VRAM allocation that contains a GPU virtual address. Never blocks: std::nullopt if the table is locked.
    std::optional<Found> find_vram(std::uint64_t va) const;

    /// Sets the address at which the runtime allocates scratch memory for queues (SET_SCRATCH_BACKING_VA).
    void set_scratch(unsigned gpu, std::uint64_t va);

    // Sharing, in memory_sharing.cpp. Any process may map, send and import a dma-buf.
    int export_dmabuf(abi::ExportDmabuf& request);
    /// request.metadata_size: in, the bytes at metadata_ptr; out, those of the metadata.
    int dmabuf_info(abi::GetDmabufInfo& request) const;
    int import_dmabuf(abi::ImportDmabuf& request);
    int export_ipc(abi::IpcExportHandle& request);
    int import_ipc(abi::IpcImportHandle& request);
    /// The buffer of a dma-buf, or nullptr if it is not a dma-buf of an emulated GPU.
    std::shared_ptr<Buffer> import(int dmabuf);
    /// Creates a dma-buf of a buffer, with open() flags; 0 or an errno value.
    int open_dmabuf(const std::shared_ptr<Buffer>& buffer, std::uint32_t flags, int& dmabuf);
    /// The metadata of a buffer, in every process that has imported it; 0 or an errno value.
    int metadata(const Buffer& buffer, BufferMetadata& metadata) const;
    int set_metadata(const std::shared_ptr<Buffer>& buffer, const BufferMetadata& metadata);
    /// The file and offset that back `offset` of a render node, if that is an imported buffer; else {-1, …}.
    struct Place {
        int file = -1;
        std::uint64_t offset = 0;
        bool hidden = false;  ///< private VRAM: mapped without access
    };
    Place imported_at(unsigned gpu, std::uint64_t offset, std::uint64_t size) const;

    /// The doorbell page of a GPU: its offset in the KFD file, and the emulator's mapping.
    const DeviceFile::Range& doorbells(unsigned gpu) const { return doorbells_[gpu]; }

  private:
    int count(Buffer& buffer);
    std::uint64_t system_available() const;
    struct Allocation {
        std::shared_ptr<Buffer> buffer;
        std::uint64_t va;
        std::set<unsigned> mapped{};
    };
    using Key = std::tuple<dev_t, ino_t, std::uint32_t>;  // a file and an entry of its table

    int asked_to_fail(const abi::AllocMemoryOfGpu& request, unsigned gpu) const;
    int place(Buffer& buffer, abi::AllocMemoryOfGpu& request, bool cleared = false);
    std::uint64_t add(std::uint32_t gpu_id, Allocation allocation);
    std::shared_ptr<Buffer> find(std::uint64_t handle) const;
    int share(const std::shared_ptr<Buffer>& buffer);

    const Topology& topology_;
    std::vector<DeviceFile*> render_;
    DeviceFile& kfd_;
    std::vector<AddressSpace*> spaces_;
    std::vector<DeviceFile::Range> doorbells_, mmio_;

    mutable std::mutex mutex_;
    std::map<std::uint64_t, Allocation> allocations_;
    std::map<Key, std::weak_ptr<Buffer>> shared_;  // exported and imported: a second import returns the same buffer
    std::uint64_t next_import_offset_;
    std::vector<std::atomic<std::uint64_t>> vram_used_;
    std::atomic<std::uint64_t> system_used_{0};  // system memory and user pages of all GPUs
    std::vector<std::uint64_t> scratch_va_;
    std::uint64_t next_handle_ = 1;
};

inline constexpr std::uint64_t kDoorbellPageBytes = 8192;  ///< 1024 doorbells of 8 bytes, as the thunk assumes

}  // namespace kfdemu
