// GEM handles of one render node, and explicit mappings of their buffers into the GPU's address space (GEM_VA). libdrm
// uses them for the runtime's virtual memory API and to attach system memory.
//
//     gem.import(dmabuf, handle);
//     gem.map(handle, access, va, offset, size);      // GEM_VA with operation MAP
//
// All descriptors of a render node share these handles, because they refer to one file. Errors are errno values. Thread
// safety: every function, any thread. map() and unmap() wait for the GPU's running quanta.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/resources/memory.hpp"

namespace kfdemu {

class Gem {
  public:
    Gem(unsigned gpu, Memory& memory, AddressSpace& space) : gpu_{gpu}, memory_{memory}, space_{space} {}

    /// A new buffer with abi::AllocFlags. `host_access` false: mmap_offset() refuses it. `cleared`: of zeroes also if
    /// new VRAM holds garbage.
    int create(std::uint64_t size_bytes, std::uint32_t flags, bool host_access, bool cleared, std::uint32_t& handle);
    int import(int dmabuf, std::uint32_t& handle);
    int export_dmabuf(std::uint32_t handle, std::uint32_t flags, int& dmabuf);
    /// Destroys the handle and unmaps its buffer.
    int close(std::uint32_t handle);
    int mmap_offset(std::uint32_t handle, std::uint64_t& offset) const;
    /// nullptr: no such handle.
    std::shared_ptr<Buffer> find(std::uint32_t handle) const;
    int metadata(std::uint32_t handle, BufferMetadata& metadata) const;
    int set_metadata(std::uint32_t handle, const BufferMetadata& metadata);

    /// `access` is a set of kfdemu::Access.
    int map(std::uint32_t handle, std::uint32_t access, std::uint64_t va, std::uint64_t offset, std::uint64_t size);
    /// Removes the mapping of that buffer that begins at `va`.
    int unmap(std::uint32_t handle, std::uint64_t va);
    /// Unmaps [va, va + size), for mappings made here of any buffer.
    int clear(std::uint64_t va, std::uint64_t size);

  private:
    struct Mapping {
        std::uint32_t handle;
        std::uint64_t size;
    };

    const unsigned gpu_;
    Memory& memory_;
    AddressSpace& space_;
    mutable std::mutex mutex_;
    std::map<std::uint32_t, std::shared_ptr<Buffer>> buffers_;
    std::map<std::uint64_t, Mapping> mappings_;  // by address
    std::uint32_t next_handle_ = 1;
};

}  // namespace kfdemu
