// The process-wide HSA runtime: initialised by the first Driver, shut down when nothing needs it any more.
//
//   hsadrv::Driver driver;
//   hsadrv::AgentRef gpu = driver.gpus().front();
//
// Owns: one count of a shared reference. Everything that owns a HSA object holds another, so objects may
// outlive the Driver that they were made under; hsa_shut_down happens when the last of them goes. Nothing
// happens at static-initialisation time. Where the process has called hsa_init itself, a Driver joins that runtime and
// leaves the other counts alone; the handler of system events that it registers is one of several, all of which the
// runtime calls, and the process then keeps this library loaded. In a child forked after initialisation every creating
// call throws ForkedChild, and destructors leave the parent's runtime alone; fork + exec is fine.
// Thread safety: any thread; concurrent construction and destruction included.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/agent.hpp"

namespace hsadrv {

class SignalCallbacks;

namespace detail {
class Runtime;
}

/// True in a child forked after the runtime had been initialised. One relaxed load.
bool in_forked_child() noexcept;

/// Throws ForkedChild("call: …") in such a child. For the entry points that create things.
void refuse_in_forked_child(const char* call);

/// Facts about the runtime and the host.
struct SystemFacts {
    std::uint16_t version_major, version_minor;  ///< of the HSA runtime's interface
    std::uint64_t timestamp_frequency_hz;        ///< of hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP)
    bool large_model;                            ///< 64-bit
    bool little_endian;
    std::uint64_t signal_max_wait_ticks;
    std::string build_version;       ///< ROCR's own, "1.5.0"; empty if it gives none
    bool svm_supported;              ///< hsa_amd_svm_* works on every GPU
    bool svm_accessible_by_default;  ///< every GPU reads and writes any memory of the process
    // Nothing where the runtime is older than the question:
    std::optional<bool> mwaitx_enabled;  ///< waits for signals sleep by the CPU's MWAITX
    std::optional<bool> dmabuf_supported, virtual_memory_supported, xnack_enabled;
    std::optional<std::uint16_t> amd_version_major, amd_version_minor;  ///< of hsa_ext_amd.h
};

class Driver {
  public:
    /// Initialises the runtime or joins it. Throws NoDevice when the runtime finds no device, saying what was
    /// tried and what to do; ForkedChild; Error otherwise.
    Driver();

    /// Every agent, in the runtime's order.
    const std::vector<AgentRef>& agents() const noexcept;

    /// The GPUs that can dispatch kernels, in the runtime's order (ROCR_VISIBLE_DEVICES applies). Never
    /// empty: throws NoDevice.
    const std::vector<AgentRef>& gpus() const;

    /// The GPU that a text means: an ordinal of gpus() ("0"), a UUID or the beginning of one ("GPU-…"), a PCI address,
    /// or a name ("gfx90a", or the product's). Throws InvalidArgument for a name that several have, NoDevice for one
    /// that none has; both list what there is.
    AgentRef gpu(std::string_view text) const;

    /// Never empty on a running system; the first owns the host's pools.
    const std::vector<AgentRef>& cpus() const noexcept;

    const SystemFacts& system() const noexcept;

    /// The runtime's clock, in ticks of timestamp_frequency_hz; profiling times are on the same one.
    std::uint64_t timestamp() const;

    /// The minor version in which the runtime offers an extension; nothing if it does not.
    std::optional<std::uint16_t> extension(hsa_extension_t extension, std::uint16_t version_major = 1) const;

    /// Host functions on signals; see signal_callbacks.hpp. Ends with the runtime.
    SignalCallbacks& callbacks() const noexcept;

    /// Joins the runtime that is already up. Throws Error if none is: construct a Driver first; ForkedChild. Both name
    /// `call`.
    static Driver current(const char* call = "hsadrv::Driver::current");

    detail::Runtime& runtime() const noexcept { return *runtime_; }

  private:
    explicit Driver(std::shared_ptr<detail::Runtime> runtime) noexcept : runtime_(std::move(runtime)) {}
    std::shared_ptr<detail::Runtime> runtime_;
    friend class DriverRef;
};

/// A Driver that may be absent, for owners; see handle.hpp, which drops it after the handle.
class DriverRef {
  public:
    DriverRef() noexcept = default;
    DriverRef(const Driver& driver) noexcept : runtime_(driver.runtime_) {}  // NOLINT: conversion is the interface
    explicit operator bool() const noexcept { return bool(runtime_); }

  private:
    std::shared_ptr<detail::Runtime> runtime_;
};

}  // namespace hsadrv
