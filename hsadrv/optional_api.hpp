// Optional runtime entry points: those newer than ROCR 5.2, the oldest release that this library supports.
//
//   const auto& copy = hsadrv::optional_api().memory_async_copy_on_engine;
//   if (copy) check(copy(to, gpu, from, cpu, bytes, 0, nullptr, done, engine, false), "…");   // offered
//   copy.required()(to, …);                                            // throws NotOffered otherwise
//
// One program runs on every runtime: these entry points are not linked, but looked up once in the runtime that
// the process has loaded. Types missing from 5.2's headers are declared here with the layout of the later
// headers. Thread safety: any thread; the first call looks them up. Throws: NotOffered from required() only, naming
// the entry point, the runtime's version, and the release that introduced it. Source: hsa_ext_amd.h of
// ROCm 5.6, 6.0, 6.1, 6.2 and 6.4.
#pragma once

#include "shared/cpp20.hpp"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace hsadrv {

/// A possibly missing entry point. Call it only if it converts to true.
template <class Function>
class OptionalEntry {
  public:
    OptionalEntry(const char* name, const char* since, void* found) noexcept
        : name_(name), since_(since), function_(reinterpret_cast<Function*>(found)) {}

    explicit operator bool() const noexcept { return function_ != nullptr; }
    const char* name() const noexcept { return name_; }
    const char* since() const noexcept { return since_; }  ///< the ROCm release that introduced it, "6.0"

    /// Calls the entry point, which must be present.
    template <class... Arguments>
    auto operator()(Arguments... arguments) const {
        return function_(arguments...);
    }
    /// The function. Throws NotOffered if the runtime lacks it.
    Function* required() const;

  private:
    const char* name_;
    const char* since_;
    Function* function_;
};

/// Throws NotOffered("name(): not offered by this runtime (…): it came with ROCm 6.0").
[[noreturn]] void throw_not_offered(const char* name, const char* since);

template <class Function>
Function* OptionalEntry<Function>::required() const {
    if (function_ == nullptr) throw_not_offered(name_, since_);
    return function_;
}

/// hsa_amd_vmem_alloc_handle_t: physical memory without an address.
struct VmemHandle {
    std::uint64_t handle;
};

/// hsa_amd_memory_access_desc_t: an agent's permissions for mapped memory.
struct VmemAccess {
    hsa_access_permission_t permissions;
    hsa_agent_t agent;
};

/// hsa_amd_memory_type_t.
enum class VmemType : int { none, pinned };

/// hsa_queue_info_attribute_t.
enum class QueueInfo : int { agent, doorbell_id };

struct OptionalApi {
    // DMA engines by name: an engine is a bit of hsa_amd_sdma_engine_id_t.
    OptionalEntry<hsa_status_t(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent,
                               std::size_t bytes, std::uint32_t dependency_count, const hsa_signal_t* dependencies,
                               hsa_signal_t completion, std::uint32_t engine, bool force_sdma)>
        memory_async_copy_on_engine;
    OptionalEntry<hsa_status_t(hsa_agent_t to, hsa_agent_t from, std::uint32_t* engines)> memory_copy_engine_status;

    // Memory as a file descriptor.
    OptionalEntry<hsa_status_t(const void* pointer, std::size_t bytes, int* descriptor, std::uint64_t* offset)>
        portable_export_dmabuf;
    OptionalEntry<hsa_status_t(int descriptor)> portable_close_dmabuf;

    // Virtual memory: address ranges separate from physical memory.
    OptionalEntry<hsa_status_t(void** range, std::size_t bytes, std::uint64_t address, std::uint64_t flags)>
        vmem_address_reserve;
    OptionalEntry<hsa_status_t(void* range, std::size_t bytes)> vmem_address_free;
    OptionalEntry<hsa_status_t(hsa_amd_memory_pool_t pool, std::size_t bytes, VmemType type, std::uint64_t flags,
                               VmemHandle* handle)>
        vmem_handle_create;
    OptionalEntry<hsa_status_t(VmemHandle handle)> vmem_handle_release;
    OptionalEntry<hsa_status_t(void* range, std::size_t bytes, std::size_t offset, VmemHandle handle,
                               std::uint64_t flags)>
        vmem_map;
    OptionalEntry<hsa_status_t(void* range, std::size_t bytes)> vmem_unmap;
    OptionalEntry<hsa_status_t(void* range, std::size_t bytes, const VmemAccess* access, std::size_t count)>
        vmem_set_access;
    OptionalEntry<hsa_status_t(void* range, hsa_access_permission_t* permissions, hsa_agent_t agent)> vmem_get_access;

    OptionalEntry<hsa_status_t(int* descriptor, VmemHandle handle, std::uint64_t flags)> vmem_export_shareable_handle;
    OptionalEntry<hsa_status_t(int descriptor, VmemHandle* handle)> vmem_import_shareable_handle;

    // Signals and queues.
    OptionalEntry<std::uint32_t(std::uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                hsa_signal_value_t* than, std::uint64_t timeout_ticks, hsa_wait_state_t wait_state,
                                hsa_signal_value_t* satisfying)>
        signal_wait_all;
    OptionalEntry<hsa_status_t(hsa_queue_t* queue, QueueInfo attribute, void* value)> queue_get_info;
};

/// The entry points of this process's runtime.
const OptionalApi& optional_api();

/// ROCR's own version, "1.5.0"; empty if it reports none.
std::string runtime_build_version();

/// The runtime's name in messages: "ROCR 1.5.0", or "HSA runtime 1.1" if it reports no build version.
std::string runtime_version_text();

}  // namespace hsadrv
