// The process-wide HSA runtime: initialised by the first Driver, shut down when its last user is destroyed.
//
//   hsadrv::Driver driver;
//   hsadrv::AgentRef gpu = driver.gpus().front();
//
// Owns: one reference to the runtime. Every owner of an HSA object holds another, so objects may outlive the Driver
// that they were made under. The last one to be destroyed calls hsa_shut_down. Nothing runs at static initialisation.
// If the process has called hsa_init itself, a Driver joins that runtime and does not touch the other references. It
// registers one handler of system events; the runtime calls all such handlers, and the process then keeps this library
// loaded. In a child forked after initialisation every creating call throws ForkedChild, and destructors do not touch
// the parent's runtime; fork + exec is fine. Thread safety: any thread, including concurrent construction and
// destruction.
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

/// True in a child forked after the runtime was initialised. One relaxed load.
bool in_forked_child() noexcept;

/// Throws ForkedChild("call: …") in such a child. For entry points that create objects.
void refuse_in_forked_child(const char* call);

/// Facts about the runtime and the host.
struct SystemFacts {
    std::uint16_t version_major, version_minor;  ///< of the HSA runtime's API
    std::uint64_t timestamp_frequency_hz;        ///< of hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP)
    bool large_model;                            ///< 64-bit
    bool little_endian;
    std::uint64_t signal_max_wait_ticks;
    std::string build_version;       ///< ROCR's own, "1.5.0"; empty if it gives none
    bool svm_supported;              ///< hsa_amd_svm_* works on every GPU
    bool svm_accessible_by_default;  ///< every GPU accesses all memory of the process
    // std::nullopt if the runtime predates the query:
    std::optional<bool> mwaitx_enabled;  ///< signal waits sleep with the CPU's MWAITX
    std::optional<bool> dmabuf_supported, virtual_memory_supported, xnack_enabled;
    std::optional<std::uint16_t> amd_version_major, amd_version_minor;  ///< of hsa_ext_amd.h
};

class Driver {
  public:
    /// Initialises the runtime or joins it. Throws NoDevice if the runtime finds no device, with what was tried and the
    /// remedy; ForkedChild; Error otherwise.
    Driver();

    /// Every agent, in the runtime's order.
    const std::vector<AgentRef>& agents() const noexcept;

    /// The GPUs that can dispatch kernels, in the runtime's order (ROCR_VISIBLE_DEVICES applies). Never
    /// empty: throws NoDevice.
    const std::vector<AgentRef>& gpus() const;

    /// The GPU named by a text: an ordinal of gpus() ("0"), a UUID or a prefix of one ("GPU-…"), a PCI address, or a
    /// name ("gfx90a", or the product's). Throws InvalidArgument if several GPUs match, NoDevice if none does; both
    /// list the GPUs.
    AgentRef gpu(std::string_view text) const;

    /// The one that $HSADRV_DEVICE names, as gpu() takes it; the first of gpus() if it is not set or empty. Throws as
    /// gpu() does, naming the variable.
    AgentRef default_gpu() const;

    /// Never empty on a working system; the first owns the host's pools.
    const std::vector<AgentRef>& cpus() const noexcept;

    const SystemFacts& system() const noexcept;

    /// The runtime's clock, in ticks of timestamp_frequency_hz. Profiling times use the same clock.
    std::uint64_t timestamp() const;

    /// The minor version of an extension that the runtime offers; std::nullopt if it does not.
    std::optional<std::uint16_t> extension(hsa_extension_t extension, std::uint16_t version_major = 1) const;

    /// Host functions on signals; see signal_callbacks.hpp. Destroyed with the runtime.
    SignalCallbacks& callbacks() const noexcept;

    /// Joins the running runtime. Throws Error if there is none (construct a Driver first); ForkedChild. Both name
    /// `call`.
    static Driver current(const char* call = "hsadrv::Driver::current");
    /// The same; std::nullopt if there is none, and in a forked child.
    static std::optional<Driver> try_current();

    detail::Runtime& runtime() const noexcept { return *runtime_; }

  private:
    explicit Driver(std::shared_ptr<detail::Runtime> runtime) noexcept : runtime_(std::move(runtime)) {}
    std::shared_ptr<detail::Runtime> runtime_;
    friend class DriverRef;
};

/// A Driver that may be empty, for owners; see handle.hpp, which releases it after the handle.
class DriverRef {
  public:
    DriverRef() noexcept = default;
    DriverRef(const Driver& driver) noexcept : runtime_(driver.runtime_) {}  // NOLINT: conversion is the interface
    explicit operator bool() const noexcept { return bool(runtime_); }

  private:
    std::shared_ptr<detail::Runtime> runtime_;
};

}  // namespace hsadrv
