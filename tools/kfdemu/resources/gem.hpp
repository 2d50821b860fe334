// A GPU's buffers as its render node names them (GEM handles), and where a program has put them into the
// GPU's address space by itself: what libdrm does for the runtime's virtual memory calls and for attaching
// system memory.
//
//     gem.import(dmabuf, handle);
//     gem.map(handle, access, va, offset, size);      // GEM_VA with operation MAP
//
// All descriptors of a render node share these names, because the emulator gives all of them one file. Errors
// are errno values. Thread safety: every function, any thread. Changes of the map wait for the GPU's running quantum.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/address_space.hpp"
#include "resources/memory.hpp"

namespace kfdemu {

class Gem {
  public:
    Gem(Memory& memory, AddressSpace& space) : memory_{memory}, space_{space} {}

    int import(int dmabuf, std::uint32_t& handle);
    int export_dmabuf(std::uint32_t handle, std::uint32_t flags, int& dmabuf);
    /// Takes the name away, and the buffer out of the address space.
    int close(std::uint32_t handle);
    int mmap_offset(std::uint32_t handle, std::uint64_t& offset) const;

    /// `access` is a set of kfdemu::Access.
    int map(std::uint32_t handle, std::uint32_t access, std::uint64_t va, std::uint64_t offset, std::uint64_t size);
    /// The mapping of that buffer that begins at `va`.
    int unmap(std::uint32_t handle, std::uint64_t va);
    /// Whatever was mapped here in [va, va + size), of any buffer.
    int clear(std::uint64_t va, std::uint64_t size);

  private:
    struct Mapping {
        std::uint32_t handle;
        std::uint64_t size;
    };

    Memory& memory_;
    AddressSpace& space_;
    mutable std::mutex mutex_;
    std::map<std::uint32_t, std::shared_ptr<Buffer>> buffers_;
    std::map<std::uint64_t, Mapping> mappings_;  // by address
    std::uint32_t next_handle_ = 1;
};

}  // namespace kfdemu
