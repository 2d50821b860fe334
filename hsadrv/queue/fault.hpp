// Internal: GPU memory faults and resets, passed from the runtime's event handler to the streams of that GPU.
//
// The runtime reports a fault's agent and address but not its queue. The kernel driver stops all queues of the process
// on that GPU, and queues created later never start (amdkfd: kfd_dqm_evict_pasid, is_evicted of a new queue). So every
// stream of the agent fails at once. The stream whose kernel was running fails with the fault; if several were running,
// each fails with a text that blames none of them. The others fail with DeviceLost. Work submitted later finds its
// stream failed. Thread safety: any thread.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <optional>
#include <string>

#include "hsadrv/agent.hpp"
#include "hsadrv/allocation_record.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::detail {

struct Fault {
    AgentRef agent;
    std::uint32_t node;  ///< KFD's node id, stable when the runtime is shut down and started again
    std::uint64_t address;
    std::uint32_t reasons;                                    ///< hsa_amd_memory_fault_reason_t
    std::optional<NearestAllocation> nearest = std::nullopt;  ///< at the time of the fault

    std::string reason_text() const;  ///< "page not present, write to a read-only page"
    /// What is at the address: "null", "non-canonical address", "96 B past the end of …", "never mapped …".
    std::string place_text() const;
    /// "memory fault on gpu0 gfx90a at address 0x… (page not present), null"
    std::string text(const std::string& whose) const;
    /// For objects that did not cause the fault: "… has failed: this process has lost gpu0 gfx90a to a …".
    DeviceLost lost(const std::string& whose) const;
};

namespace faults {

/// Registers the handler, in addition to those of others. `adopted`: the runtime was already initialized, and may
/// outlive us. Calls `tell` with each agent's first fault, on the runtime's thread. Returns the argument of
/// uninstall().
std::uintptr_t install(bool adopted, void (*tell)(const Fault&));
/// The handler cannot be unregistered; after this it leaves events to the others.
void uninstall(std::uintptr_t registration) noexcept;
/// Keeps the code of the handler in the process permanently.
void stay_loaded() noexcept;

/// The first fault of this agent in this process. Costs one relaxed load if there is none.
std::optional<Fault> of(AgentRef agent);
/// Throws DeviceLost if there was one.
void refuse_lost(AgentRef agent, const char* call);

}  // namespace faults
}  // namespace hsadrv::detail
