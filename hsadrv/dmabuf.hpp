// Device memory as a file descriptor (dma-buf), for other processes, drivers and libraries, and such memory of theirs.
//
//   const auto out = hsadrv::DmaBuf::of(memory.data(), bytes);             // of any device memory
//   register_with_nic(out.descriptor(), out.offset_bytes(), out.size_bytes());
//   const auto in = hsadrv::DmaBufMemory::import(descriptor, gpu);         // Vulkan's, V4L2's, another process's
//   kernel.launch(stream, shape, in.data(), n);
//
// Lifetime: a dma-buf keeps the memory itself, also after the allocation was freed. But memory of an Allocator is
// reused when its block is freed. A DmaBufMemory stays mapped until it is destroyed, and does not need the descriptor
// any more. Its destructor does not wait: give it to Stream::keep_alive, as a shared_ptr, to unmap it after the
// stream's work. Owns: DmaBuf its descriptor. Thread safety: any thread. Errors: NotOffered by DmaBuf::of if the
// runtime is older than ROCm 5.6; InvalidArgument. Source: hsa_ext_amd.h, hsa_amd_portable_export_dmabuf,
// hsa_amd_interop_map_buffer; Linux, Documentation/driver-api/dma-buf.rst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "hsadrv/agent.hpp"
#include "hsadrv/handle.hpp"

namespace hsadrv {

/// A range of device memory as a descriptor, which the destructor closes.
class DmaBuf {
  public:
    /// Of a range of an allocation; the descriptor is of all of the runtime's memory that contains it.
    static DmaBuf of(const void* data, std::size_t size_bytes);

    int descriptor() const noexcept { return descriptor_; }
    std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }  ///< of the range in the dma-buf
    std::size_t size_bytes() const noexcept { return size_bytes_; }
    /// The caller closes it.
    int release() noexcept { return std::exchange(descriptor_, -1); }

    DmaBuf(DmaBuf&& other) noexcept
        : descriptor_(other.release()), offset_bytes_(other.offset_bytes_), size_bytes_(other.size_bytes_) {}
    DmaBuf& operator=(DmaBuf&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        offset_bytes_ = other.offset_bytes_;
        size_bytes_ = other.size_bytes_;
        return *this;
    }
    ~DmaBuf();

  private:
    DmaBuf(int descriptor, std::uint64_t offset_bytes, std::size_t size_bytes) noexcept
        : descriptor_(descriptor), offset_bytes_(offset_bytes), size_bytes_(size_bytes) {}

    int descriptor_;
    std::uint64_t offset_bytes_;
    std::size_t size_bytes_;
};

/// The memory of a dma-buf, mapped for GPUs.
class DmaBufMemory {
  public:
    /// Maps all of it. `descriptor` stays the caller's. Throws InvalidArgument for an empty list, for an agent that is
    /// no GPU, and for a descriptor of anything else or of memory that these GPUs cannot reach.
    static DmaBufMemory import(int descriptor, std::span<const AgentRef> gpus);
    static DmaBufMemory import(int descriptor, AgentRef gpu) { return import(descriptor, {&gpu, 1}); }

    void* data() const noexcept { return mapping_.get(); }
    std::size_t size_bytes() const noexcept { return mapping_ ? size_bytes_ : 0; }
    /// As a kernel argument it is its address; see kernel_args.hpp.
    friend void* kernel_argument(const DmaBufMemory& memory) noexcept { return memory.data(); }

  private:
    struct Traits {
        using Native = void*;
        static Native null() noexcept { return nullptr; }
        static bool is_null(Native p) noexcept { return p == nullptr; }
        static void destroy(Native p) noexcept;
    };
    DmaBufMemory(UniqueHandle<Traits> mapping, std::size_t size_bytes) noexcept
        : mapping_(std::move(mapping)), size_bytes_(size_bytes) {}

    UniqueHandle<Traits> mapping_;
    std::size_t size_bytes_;
};

}  // namespace hsadrv
