// Internal: what the arrays of one GPU share: memory that is used again, and the kernels that copy elements.
//
//     std::shared_ptr<ArrayDevice> device = ArrayDevice::of(stream);
//     Block block = device->array_block(bytes, stream);
//     device->kernels().copy(stream, copy, to, from, {});
//
// There is one for each GPU as long as an array of it, or a stream that arrays were used on, is alive: so
// memory and kernels are warm, and nothing of them holds the runtime when those are gone. Thread safety: any
// thread. Errors: kernels() throws what CopyKernels' constructor throws, each time anew.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "devicearray/copy_kernels.hpp"
#include "devicearray/device_ndarray.hpp"
#include "hsadrv/allocator.hpp"
#include "hsadrv/deadline.hpp"
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

    /// Device memory for an array, whichever stream uses it: free it when the work that uses it is complete.
    Block array_block(std::size_t bytes, const Stream& stream);
    /// The same of pinned memory, for the CPU and all GPUs.
    Block host_block(std::size_t bytes, const Stream& stream);
    /// Device memory for `stream` alone, which may be freed while the stream's work still uses it. It is not array
    /// memory: a block of that is used by other streams, which know nothing of the work in flight.
    Block scratch_block(std::size_t bytes, const Stream& stream);

    ArrayMemory statistics() const;
    /// Gives back what no array uses of all three. Returns the bytes.
    std::size_t release_cached();
    /// Of all GPUs.
    static std::size_t release_all();
    /// Is scratch memory of any GPU freed, but not yet given back?
    static bool scratch_in_flight();
    /// Loaded when they are first needed.
    const CopyKernels& kernels();

  private:
    AgentRef gpu_;
    Allocator memory_, host_memory_, scratch_;
    std::mutex mutex_;
    std::optional<CopyKernels> kernels_;
};

/// What `allocate` returns; where it finds no memory, again after the arrays' pools gave back theirs, and for ten
/// seconds while scratch memory is in flight.
template <class Allocate>
auto given_back(Allocate&& allocate) {
    const Deadline deadline(std::chrono::seconds(10));
    while (true) {
        const bool last = deadline.passed();
        try {
            return allocate();
        } catch (const OutOfMemory&) {
            const bool gave = ArrayDevice::release_all() > 0;
            if (last || (!gave && !ArrayDevice::scratch_in_flight())) throw;
            if (!gave) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

}  // namespace hsadrv::detail
