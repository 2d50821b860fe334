// Exception types: every failure throws an Error or one of its subtypes.
//
//   check(hsa_signal_create(1, 0, nullptr, &handle), "hsa_signal_create(initial 1)");
//   try { stream.synchronize(); } catch (const hsadrv::QueueError& e) { log(e.what()); }
//
// Every message names the call, the object, the numbers and, if known, the remedy. Expected outcomes are values, not
// errors: try_* functions return bool or optional.
//
// Thread safety: errors are values and own their text.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "hsadrv/allocation_record.hpp"

namespace hsadrv {

/// Any failure. status() is the HSA status that caused it, or HSA_STATUS_ERROR if no runtime call did.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& message, hsa_status_t status = HSA_STATUS_ERROR)
        : std::runtime_error(message), status_(status) {}
    hsa_status_t status() const noexcept { return status_; }

  private:
    hsa_status_t status_;
};

/// Memory, address space or another countable resource is exhausted.
class OutOfMemory : public Error {
    using Error::Error;
};

/// An argument that the callee cannot accept. Nothing was enqueued.
class InvalidArgument : public Error {
    using Error::Error;
};

/// A code object that is malformed, or compiled for another target.
class InvalidCodeObject : public Error {
    using Error::Error;
};

/// The packet processor stopped a queue. Sticky: the queue and its stream throw it from then on.
class QueueError : public Error {
    using Error::Error;
};

/// A GPU accessed an address that is not mapped for it, or not for that kind of access. Thrown by the stream whose
/// kernel did so if it is known, else by each stream that may have. Sticky, and the GPU is lost: see DeviceLost.
class MemoryFault : public Error {
  public:
    MemoryFault(const std::string& message, std::uint64_t address,
                std::optional<NearestAllocation> nearest = std::nullopt);
    /// The faulting address; the hardware reports it at page granularity.
    std::uint64_t address() const noexcept { return address_; }
    /// The allocation nearest to it at the time of the fault, live or freed; std::nullopt if none was within 1 GiB.
    const std::optional<NearestAllocation>& nearest() const noexcept { return nearest_; }

  private:
    std::uint64_t address_;
    std::optional<NearestAllocation> nearest_;
};

/// This process has lost a GPU to a memory fault or a reset: the kernel driver (amdkfd) has stopped all of the
/// process's queues there, and starts none until the process ends. All streams and queues of that GPU throw it,
/// including new ones. Other GPUs are unaffected, and host-accessible memory can still be read.
class DeviceLost : public Error {
    using Error::Error;
};

/// A condition that a kernel asserted does not hold (docs/guide/services.md). Thrown by the stream that ran it; sticky.
/// Streams that share its queue, and the device, are unaffected.
class KernelAssertion : public Error {
  public:
    KernelAssertion(const std::string& message, std::string file, std::uint32_t line)
        : Error(message), file_(std::move(file)), line_(line) {}
    const std::string& file() const noexcept { return file_; }
    std::uint32_t line() const noexcept { return line_; }

  private:
    std::string file_;
    std::uint32_t line_;
};

/// The stream was closed or destroyed before the work was complete. Thrown to waiters.
class StreamEnded : public Error {
    using Error::Error;
};

/// The deadline passed before the condition held. The wait may be repeated.
class Timeout : public Error {
    using Error::Error;
};

/// No usable GPU. The message lists what was tried, and the remedy.
class NoDevice : public Error {
    using Error::Error;
};

/// The runtime of this process is too old for the call. The message names the release that added it.
class NotOffered : public Error {
    using Error::Error;
};

/// The process was forked after the runtime was initialised; HSA cannot be used in the child.
class ForkedChild : public Error {
    using Error::Error;
};

/// The name of a status as in hsa.h, for example "HSA_STATUS_ERROR_OUT_OF_RESOURCES"; unknown ones as a number.
std::string status_name(hsa_status_t status);

/// Throws the subtype that fits the status, with "what: STATUS_NAME (the runtime's explanation)[; remedy]".
[[noreturn]] void throw_status(hsa_status_t status, std::string_view what, std::string_view remedy = {});

/// Calls throw_status unless the status is success or HSA_STATUS_INFO_BREAK.
inline void check(hsa_status_t status, std::string_view what) {
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) [[unlikely]]
        throw_status(status, what);
}

/// The same for a text that is expensive to build: `describe()` is called only on failure.
template <class Describe>
    requires requires(Describe d) { std::string(d()); }
void check(hsa_status_t status, Describe&& describe) {
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) [[unlikely]]
        throw_status(status, std::string(std::forward<Describe>(describe)()));
}

}  // namespace hsadrv
