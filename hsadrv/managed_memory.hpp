// Managed memory: pages of the process that the CPU and GPUs use at the same address (SVM).
//
//   const auto memory = hsadrv::ManagedMemory::create(bytes, gpu);
//   std::fill_n(memory.as<float>(), n, 1.0f);                               // the CPU
//   hsadrv::advise(memory.data(), bytes, hsadrv::Advice::preferred_location, gpu);
//   hsadrv::prefetch(stream, memory.data(), bytes, gpu);                    // then the stream's next kernel
//   kernel.launch(stream, shape, memory.data(), n);
//
// advise() and prefetch() take any private pages of the process, such as malloc's, but no device or pinned memory;
// nor can managed pages be registered: the driver refuses to pin them (EADDRINUSE), the emulated one does not. Ranges
// are extended to whole pages of 4096 bytes. Advice ends with the pages: what malloc returns later has none.
// Where GPUs do not retry page faults (XNACK off), a GPU accesses only what accessible_by grants. Copies treat managed
// memory as pageable.
//
// Lifetime: a ManagedMemory unmaps its pages in its destructor, which does not wait: give it to Stream::keep_alive, as
// a shared_ptr, to unmap it after the stream's work. Ordering: the CPU sees a kernel's writes after the stream was
// synchronised. Thread safety: any thread. Errors: NotOffered if SystemFacts::svm_supported is false; InvalidArgument;
// OutOfMemory. Source: hsa_ext_amd.h, hsa_amd_svm_attributes_set; Linux, kfd_svm.c.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "hsadrv/agent.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

/// Zeroed pages that the CPU and the given GPUs access.
class ManagedMemory {
  public:
    /// Zero bytes give an empty one.
    static ManagedMemory create(std::size_t size_bytes, std::span<const AgentRef> gpus);
    static ManagedMemory create(std::size_t size_bytes, AgentRef gpu) { return create(size_bytes, {&gpu, 1}); }

    void* data() const noexcept { return pages_ ? pages_.get()->data : nullptr; }
    template <class T>
    T* as() const noexcept {
        return static_cast<T*>(data());
    }
    std::size_t size_bytes() const noexcept { return pages_ ? pages_.get()->size_bytes : 0; }
    /// As a kernel argument it is its address; see kernel_args.hpp.
    friend void* kernel_argument(const ManagedMemory& memory) noexcept { return memory.data(); }

  private:
    struct Pages {
        void* data;
        std::size_t size_bytes;
    };
    struct Traits {
        using Native = Pages*;
        static Native null() noexcept { return nullptr; }
        static bool is_null(Native p) noexcept { return p == nullptr; }
        static void destroy(Native p) noexcept;
    };
    ManagedMemory() noexcept = default;

    UniqueHandle<Traits> pages_;
};

enum class Advice {
    read_mostly,             ///< mostly read: copies on several devices are worth it
    not_read_mostly,         ///< the default
    preferred_location,      ///< where migrations should leave the pages: on `agent`, a GPU or a CPU
    no_preferred_location,   ///< the default
    accessible_by,           ///< `agent` accesses them, perhaps after a migration
    accessible_in_place_by,  ///< `agent` accesses them without a migration
    not_accessible_by,       ///< `agent` does not: its access is a memory fault
};

/// Sets one attribute of a range of pages. `agent` is needed where the advice names one. Throws InvalidArgument if it
/// is missing, and for memory that is not mapped or was allocated by the driver.
void advise(void* data, std::size_t size_bytes, Advice advice, AgentRef agent = {});

/// What was set for a range; refuses what advise() refuses.
struct ManagedFacts {
    enum class Access { none, migrating, in_place };
    bool read_mostly = false;                 ///< all pages
    AgentRef preferred_location, prefetched;  ///< null: none, or not the same for all pages
    Access access = Access::none;             ///< of the agent that was asked for; in_place only if all pages have it
};
ManagedFacts managed_facts(void* data, std::size_t size_bytes, AgentRef agent);

/// In the stream's order, moves the pages to `to`, a GPU or a CPU. Later operations start after it. Throws
/// InvalidArgument at once for what advise() refuses; pages that are unmapped before its turn fail the stream. They
/// must stay mapped until it is done, and the GPU needs room for them: the runtime aborts the process, or ignores it,
/// if the kernel refuses. Host functions do not wait for it; a capture records it.
void prefetch(Stream& stream, void* data, std::size_t size_bytes, AgentRef to, Deadline deadline = {});

}  // namespace hsadrv
