// HiddenArguments: the arguments that no caller gives: block counts, group sizes, the queue, …; filled by kind and
// place.
//
//     HiddenArguments hidden;
//     hidden.add(argument_metadata);                                                           // at load, one by one
//     hidden.fill(kernarg, {.grid = g, .workgroup = w, .dynamic_lds_bytes = 0}, queue_facts);  // at launch
//
// The code-object version does not matter: what the metadata lists is filled where the metadata says. Pure;
// filling allocates nothing and makes no call. Thread safety: const functions from any thread. Source: LLVM
// AMDGPUUsage, Code Object V5 Metadata (value kinds), OpenCL kernel implicit arguments.
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

/// The queue as hidden arguments name it. Zeros unless HiddenArguments::needs_queue().
struct QueueFacts {
    std::uint64_t address = 0;         ///< of the hsa_queue_t
    std::uint32_t shared_base_hi = 0;  ///< high halves of the LDS and scratch apertures
    std::uint32_t private_base_hi = 0;
};

/// What the hidden arguments of one launch tell the kernel.
struct HiddenValues {
    Dim3 grid, workgroup;
    std::uint32_t dynamic_lds_bytes = 0;
};

class HiddenArguments {
  public:
    /// In ascending order of offset. Throws InvalidCodeObject if its size is not that of its kind.
    void add(const ArgumentMetadata& argument);

    bool empty() const noexcept { return end_bytes_ == begin_bytes_; }
    bool needs_queue() const noexcept { return needs_queue_; }

    /// Writes all of them and zeros between them. `kernarg` holds the kernel's whole segment.
    void fill(std::byte* kernarg, const HiddenValues& values, const QueueFacts& queue) const noexcept;

    /// Writes those alone that name the queue, over what fill() wrote.
    void fill_queue(std::byte* kernarg, const QueueFacts& queue) const noexcept;

  private:
    struct Slot {
        std::uint32_t offset_bytes;
        ValueKind kind;
    };
    /// Block counts, group sizes and remainders, all nine, one behind the other: V5's and V6's order.
    void merge_sizes();

    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::vector<Slot> slots_;               // of the kinds that are not always zero
    std::uint32_t sizes_offset_ = nowhere;  // where the nine sizes are, if they are together
    std::uint32_t begin_bytes_ = 0, end_bytes_ = 0;
    bool needs_queue_ = false;
};

/// Why we cannot launch this kernel whatever the arguments are, with the remedy; nothing if we can.
///
/// A kernel that prints, calls the host, allocates on the device, synchronises several grids or enqueues
/// kernels needs a buffer that hsadrv does not provide. Its hidden arguments name it. But a compiler that has
/// not analysed the kernel (-O0, or calls through pointers) lists all of these buffers for every kernel; then
/// the list says nothing, the buffers are given as null, and a kernel that did use one faults. Two cases are
/// known even then and refused: printf formats, and the device library's host-call and malloc functions
/// linked into the code object.
std::optional<std::string> cannot_launch(const KernelMetadata& kernel, const CodeObject& code);

}  // namespace hsadrv
