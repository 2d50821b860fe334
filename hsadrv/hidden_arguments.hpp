// HiddenArguments: fills the kernel arguments that the compiler adds: block counts, group sizes, the queue, …
//
//     HiddenArguments hidden;
//     hidden.add(argument_metadata);                                                           // at load, for each
//     hidden.fill(kernarg, {.grid = g, .workgroup = w, .dynamic_lds_bytes = 0}, queue_facts);  // at launch
//
// Works for every code-object version: each argument is filled by kind at the metadata's offset. Pure; filling does not
// allocate or call the runtime. Thread safety: const functions from any thread. Source: LLVM AMDGPUUsage, Code Object
// V5 Metadata (value kinds), OpenCL kernel implicit arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/code_object.hpp"
#include "hsadrv/dim3.hpp"
#include "hsadrv/metadata.hpp"

namespace hsadrv {

/// The queue's values in hidden arguments. Zeros unless HiddenArguments::needs_queue().
struct QueueFacts {
    std::uint64_t address = 0;         ///< of the hsa_queue_t
    std::uint32_t shared_base_hi = 0;  ///< high halves of the LDS and scratch apertures
    std::uint32_t private_base_hi = 0;
};

/// What a kernel asks of the host while it runs: the buffers that its hidden arguments name.
struct ServiceNeeds {
    bool hostcall = false;  ///< printf, assert, device malloc
    bool heap = false;      ///< the device library's malloc
    static ServiceNeeds of(const KernelMetadata& kernel) noexcept;
};

/// The addresses of these buffers on the device; 0: none.
struct ServiceAddresses {
    std::uint64_t hostcall_buffer = 0;
    std::uint64_t heap = 0;
};

/// The launch parameters that hidden arguments pass to the kernel.
struct HiddenValues {
    Dim3 grid, workgroup;
    std::uint32_t dynamic_lds_bytes = 0;
    std::uint64_t grid_state = 0;     ///< address of a shared::GridState; zero unless the launch is cooperative
    std::uint64_t printf_buffer = 0;  ///< address of the buffer of OpenCL C's printf; zero: printf returns -1
};

class HiddenArguments {
  public:
    explicit HiddenArguments(const ServiceAddresses& services = {}) noexcept : services_(services) {}

    /// Call in ascending order of offset. Throws InvalidCodeObject if the size does not match the kind.
    void add(const ArgumentMetadata& argument);

    bool empty() const noexcept { return end_bytes_ == begin_bytes_; }
    bool needs_queue() const noexcept { return needs_queue_; }

    /// Writes all hidden arguments, and zeros between them. `kernarg` is the kernel's whole kernarg segment.
    void fill(std::byte* kernarg, const HiddenValues& values, const QueueFacts& queue) const noexcept;

    /// After fill(): overwrites only the arguments that refer to the queue.
    void fill_queue(std::byte* kernarg, const QueueFacts& queue) const noexcept;

  private:
    struct Slot {
        std::uint32_t offset_bytes;
        ValueKind kind;
    };
    /// Merges the nine slots of block counts, group sizes and remainders if they are laid out as in V5 and V6.
    void merge_sizes();

    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::vector<Slot> slots_;               // of kinds that can be nonzero
    std::uint32_t sizes_offset_ = nowhere;  // of the nine sizes, if they are contiguous
    std::uint32_t begin_bytes_ = 0, end_bytes_ = 0;
    bool needs_queue_ = false;
    ServiceAddresses services_;
};

/// True if the kernel has a hidden argument for the synchronisation of its grid, and the compiler has not listed it
/// blindly.
bool synchronises_grid(const KernelMetadata& kernel) noexcept;

/// True if the kernel may call OpenCL C's printf.
bool prints_in_buffer(const KernelMetadata& kernel) noexcept;

/// Why hsadrv cannot launch this kernel with any arguments, with the remedy; std::nullopt if it can.
///
/// A kernel that enqueues kernels needs a buffer that hsadrv does not provide. Its hidden arguments list the buffer.
/// But a compiler that has not analysed the kernel (-O0, or calls through pointers) lists all buffers but printf's for
/// every kernel. Such a list is not evidence: those for enqueued kernels are passed as null, and a kernel that does use
/// one faults.
std::optional<std::string> cannot_launch(const KernelMetadata& kernel);

}  // namespace hsadrv
