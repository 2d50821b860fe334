// Internal: resources that the arrays of one GPU share: the memory pools and the copy kernels.
//
//     std::shared_ptr<ArrayDevice> device = ArrayDevice::of(stream);
//     Block block = device->array_block(bytes, stream);
//     device->kernels().copy(stream, copy, to, from, {});
//
// There is one per GPU while an array of it, or a stream that arrays used, is alive: memory and kernels are reused, and
// afterwards nothing keeps the runtime up. Thread safety: any thread. Errors: kernels() throws what CopyKernels'
// constructor throws, again on each call.
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
    /// The one of the stream's GPU; the stream keeps it alive from now on.
    static std::shared_ptr<ArrayDevice> of(Stream& stream);
    /// Null if there is none.
    static std::shared_ptr<ArrayDevice> find(AgentRef gpu);

    explicit ArrayDevice(AgentRef gpu);
    ArrayDevice(const ArrayDevice&) = delete;
    ArrayDevice& operator=(const ArrayDevice&) = delete;

    /// Device memory for an array, usable on any stream: free it when all work that uses it is complete.
    Block array_block(std::size_t bytes, const Stream& stream);
    /// Pinned memory for an array, for the CPU and all GPUs.
    Block host_block(std::size_t bytes, const Stream& stream);
    /// Device memory for `stream` alone, which may be freed while the stream's work still uses it. Not for arrays:
    /// array memory may be reused by other streams, which are not ordered after the work in flight.
    Block scratch_block(std::size_t bytes, const Stream& stream);

    ArrayMemory statistics() const;
    /// Frees the unused memory of all three pools. Returns the bytes.
    std::size_t release_cached();
    /// The same for all GPUs.
    static std::size_t release_all();
    /// True if some GPU's scratch memory is freed but still in use by work in flight.
    static bool scratch_in_flight();
    /// Loaded on first use.
    const CopyKernels& kernels();

  private:
    AgentRef gpu_;
    Allocator memory_, host_memory_, scratch_;
    std::mutex mutex_;
    std::optional<CopyKernels> kernels_;
};

/// Returns allocate(). On OutOfMemory it frees the pools' unused memory and retries, for up to ten seconds while
/// scratch memory is in flight.
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
