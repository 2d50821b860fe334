// Internal: what the arrays of one GPU share: memory that is used again, and the kernels that copy elements.
//
//     std::shared_ptr<ArrayDevice> device = ArrayDevice::of(stream);
//     Block block = device->memory().allocate(bytes, stream);
//     device->kernels().copy(stream, copy, to, from, {});
//
// There is one for each GPU as long as an array of it, or a stream that arrays were used on, is alive: so
// memory and kernels are warm, and nothing of them holds the runtime when those are gone. Thread safety: any
// thread. Errors: kernels() throws what CopyKernels' constructor throws, each time anew.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "devicearray/copy_kernels.hpp"
#include "hsadrv/allocator.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

class ArrayDevice {
  public:
    /// The stream's GPU's; the stream keeps it from now on.
    static std::shared_ptr<ArrayDevice> of(Stream& stream);
    /// Null if there is none.
    static std::shared_ptr<ArrayDevice> find(AgentRef gpu);

    explicit ArrayDevice(AgentRef gpu);
    ArrayDevice(const ArrayDevice&) = delete;
    ArrayDevice& operator=(const ArrayDevice&) = delete;

    Allocator& memory() noexcept { return memory_; }
    /// Pinned, and used by the CPU and all GPUs.
    Allocator& host_memory() noexcept { return host_memory_; }
    /// Gives back what no array uses of both. Returns the bytes.
    std::size_t release_cached();
    /// Of all GPUs.
    static std::size_t release_all();
    /// Loaded when they are first needed.
    const CopyKernels& kernels();

  private:
    AgentRef gpu_;
    Allocator memory_, host_memory_;
    std::mutex mutex_;
    std::optional<CopyKernels> kernels_;
};

/// What `allocate` returns; where it finds no memory, once more after the arrays' pools gave back theirs.
template <class Allocate>
auto given_back(Allocate&& allocate) {
    try {
        return allocate();
    } catch (const OutOfMemory&) {
        if (ArrayDevice::release_all() == 0) throw;
        return allocate();
    }
}

}  // namespace hsadrv::detail
