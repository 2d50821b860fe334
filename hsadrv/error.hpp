// What went wrong, as types: every broken promise throws an Error or one of its subtypes.
//
//   check(hsa_signal_create(1, 0, nullptr, &handle), "hsa_signal_create(initial 1)");
//   try { stream.synchronize(); } catch (const hsadrv::QueueError& e) { log(e.what()); }
//
// Every message names the call, the object and the numbers and, where it is known, the remedy. Expected
// outcomes are values, not errors: try_* functions return bool or optional.
//
// Thread safety: errors are values; they own their text. Throws: nothing but what is asked for.
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

/// Any failure. status() is the HSA status that led to it, or HSA_STATUS_ERROR when the runtime was never asked.
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

/// A value that the callee cannot accept; found before anything was enqueued.
class InvalidArgument : public Error {
    using Error::Error;
};

/// A code object that is malformed, or meant for another target.
class InvalidCodeObject : public Error {
    using Error::Error;
};

/// The packet processor stopped a queue. Sticky: the queue and the stream on it throw it from then on.
class QueueError : public Error {
    using Error::Error;
};

/// A GPU touched an address that is not mapped for it, or not for that kind of access. Thrown by the stream whose
/// kernel did, where that can be told, else by each that may have. Sticky, and the GPU is lost: see DeviceLost.
class MemoryFault : public Error {
  public:
    MemoryFault(const std::string& message, std::uint64_t address,
                std::optional<NearestAllocation> nearest = std::nullopt);
    /// The faulting address; hardware reports it with the granularity of a page.
    std::uint64_t address() const noexcept { return address_; }
    /// The allocation that was nearest to it when it happened, live or freed; nothing if none was within 1 GiB.
    const std::optional<NearestAllocation>& nearest() const noexcept { return nearest_; }

  private:
    std::uint64_t address_;
    std::optional<NearestAllocation> nearest_;
};

/// This process has lost a GPU to a memory fault or a reset: the kernel driver (amdkfd) has stopped all of its queues
/// there, and starts none until the process ends. All streams and queues of that GPU throw it, those made later too;
/// other GPUs go on, and memory that the host reads can still be read.
class DeviceLost : public Error {
    using Error::Error;
};

/// The stream was closed or destroyed before the work was complete: what waited for it throws this.
class StreamEnded : public Error {
    using Error::Error;
};

/// The deadline passed before the condition held. Nothing was lost: the same wait may be made again.
class Timeout : public Error {
    using Error::Error;
};

/// No usable GPU. The message says what was tried and what to do.
class NoDevice : public Error {
    using Error::Error;
};

/// The runtime of this process is too old for the call. The message says which release brought it.
class NotOffered : public Error {
    using Error::Error;
};

/// The process was forked after the runtime had been initialised; HSA cannot be used in the child.
class ForkedChild : public Error {
    using Error::Error;
};

/// The name of a status as in hsa.h, for example "HSA_STATUS_ERROR_OUT_OF_RESOURCES"; unknown ones as a number.
std::string status_name(hsa_status_t status);

/// Throws the subtype that fits the status, with "what: STATUS_NAME (the runtime's explanation)[; remedy]".
[[noreturn]] void throw_status(hsa_status_t status, std::string_view what, std::string_view remedy = {});

/// Nothing if the status is success (HSA_STATUS_INFO_BREAK included), otherwise throw_status.
inline void check(hsa_status_t status, std::string_view what) {
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) [[unlikely]]
        throw_status(status, what);
}

/// The same for a text that costs something: `describe()` is called only on failure.
template <class Describe>
    requires requires(Describe d) { std::string(d()); }
void check(hsa_status_t status, Describe&& describe) {
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) [[unlikely]]
        throw_status(status, std::string(std::forward<Describe>(describe)()));
}

}  // namespace hsadrv
