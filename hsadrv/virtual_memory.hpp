// Virtual memory: addresses and memory that are separate, and mapped to each other. For arrays that grow in place, and
// memory that processes share.
//
//   const auto range = hsadrv::VirtualRange::reserve(64 * granule);               // addresses without memory
//   const auto part = hsadrv::PhysicalMemory::create(hsadrv::device_pool(gpu), granule);
//   const auto mapping = range.map(0, part, gpu);                                 // unmapped by its destructor
//   kernel.launch(stream, shape, range.data(), n);
//
// Needs ROCm 6.0 (SystemFacts::virtual_memory_supported): on older runtimes reserve(), create() and import() throw
// NotOffered. Lifetime: a VirtualMapping keeps its range and its memory; copies of a VirtualRange and of a
// PhysicalMemory refer to the same. Its destructor does not wait: give it to Stream::keep_alive, as a shared_ptr, to
// unmap it after the stream's work. Memory mapped twice is the same memory. Thread safety: any thread. Errors:
// InvalidArgument, OutOfMemory. Source: hsa_ext_amd.h of ROCm 6.0, hsa_amd_vmem_address_reserve and the others.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "hsadrv/agent.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/optional_api.hpp"

namespace hsadrv {

/// Memory without an address. Of a moved-from one, native() is null and the size zero.
class PhysicalMemory {
  public:
    /// The size must be a multiple of the pool's alloc_recommended_granule_bytes().
    static PhysicalMemory create(const MemPool& pool, std::size_t size_bytes);
    /// What another process has shared, of the same size. `descriptor` stays the caller's.
    static PhysicalMemory import(int descriptor, std::size_t size_bytes);

    /// A descriptor for import(), also in another process. The caller closes it.
    int share() const;
    std::size_t size_bytes() const noexcept { return memory_ ? size_bytes_ : 0; }
    VmemHandle native() const noexcept { return memory_ ? memory_->get() : Traits::null(); }

  private:
    struct Traits {
        using Native = VmemHandle;
        static Native null() noexcept { return {0}; }
        static bool is_null(Native memory) noexcept { return memory.handle == 0; }
        static void destroy(Native memory) noexcept;
    };
    using Memory = UniqueHandle<Traits>;
    PhysicalMemory(std::shared_ptr<const Memory> memory, std::size_t size_bytes) noexcept
        : memory_(std::move(memory)), size_bytes_(size_bytes) {}

    std::shared_ptr<const Memory> memory_;
    std::size_t size_bytes_;
};

/// Unmaps in its destructor.
class VirtualMapping {
  public:
    void* data() const noexcept;
    std::size_t size_bytes() const noexcept;
    /// As a kernel argument it is its address; see kernel_args.hpp.
    friend void* kernel_argument(const VirtualMapping& mapping) noexcept { return mapping.data(); }

  private:
    friend class VirtualRange;
    struct Mapped;
    struct Traits {
        using Native = Mapped*;
        static Native null() noexcept { return nullptr; }
        static bool is_null(Native p) noexcept { return p == nullptr; }
        static void destroy(Native p) noexcept;
    };
    explicit VirtualMapping(UniqueHandle<Traits> mapped) noexcept : mapped_(std::move(mapped)) {}

    UniqueHandle<Traits> mapped_;
};

/// Addresses that are reserved in all agents' address spaces. Of a moved-from one, data() is null and the size zero.
class VirtualRange {
  public:
    /// The size must be a multiple of 4096 bytes. Throws OutOfMemory if there is no such range.
    static VirtualRange reserve(std::size_t size_bytes);

    void* data() const noexcept { return range_ ? range_->get().data : nullptr; }
    std::size_t size_bytes() const noexcept { return range_ ? range_->get().size_bytes : 0; }

    /// Maps all of `memory` at `offset_bytes`, readable and writable for these GPUs. Throws InvalidArgument if it is
    /// empty or does not fit, if the offset is not a multiple of 4096 bytes, if something is mapped there, and for an
    /// empty list.
    VirtualMapping map(std::size_t offset_bytes, const PhysicalMemory& memory, std::span<const AgentRef> gpus) const;
    VirtualMapping map(std::size_t offset_bytes, const PhysicalMemory& memory, AgentRef gpu) const {
        return map(offset_bytes, memory, {&gpu, 1});
    }

  private:
    struct Traits {
        struct Native {
            void* data;
            std::size_t size_bytes;
        };
        static Native null() noexcept { return {nullptr, 0}; }
        static bool is_null(Native range) noexcept { return range.data == nullptr; }
        static void destroy(Native range) noexcept;
    };
    using Range = UniqueHandle<Traits>;
    explicit VirtualRange(std::shared_ptr<const Range> range) noexcept : range_(std::move(range)) {}

    std::shared_ptr<const Range> range_;
};

}  // namespace hsadrv
