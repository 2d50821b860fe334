// Internal: GPU memory faults and resets, from the runtime's event handler to the streams of that GPU.
//
// The runtime reports a fault's agent and address but not its queue. The kernel driver stops all queues of the process
// on that GPU, and those made later never start (amdkfd: kfd_dqm_evict_pasid, is_evicted of a new queue). So every
// stream of the agent fails at once: the one whose kernel ran with the fault, where several ran each of them with a
// text that blames none, and the others with DeviceLost. What is submitted later finds its stream failed. Thread
// safety: any thread.
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
    std::uint32_t node;  ///< KFD's, the same when the runtime was shut down and started again
    std::uint64_t address;
    std::uint32_t reasons;                                    ///< hsa_amd_memory_fault_reason_t
    std::optional<NearestAllocation> nearest = std::nullopt;  ///< as it was then

    std::string reason_text() const;  ///< "page not present, write to a read-only page"
    /// What lies there: "null", "no canonical address", "96 B behind the end of …", "never mapped …".
    std::string place_text() const;
    /// "memory fault on gpu0 gfx90a at address 0x… (page not present), null"
    std::string text(const std::string& whose) const;
    /// For what did not make the fault: "… has failed: this process has lost gpu0 gfx90a to a …".
    DeviceLost lost(const std::string& whose) const;
};

namespace faults {

/// Registers the handler beside those that others registered. `adopted`: the runtime was up already, and may stay up
/// after us. Each agent's first fault is told to `tell`, on the runtime's thread. Returns what to uninstall.
std::uintptr_t install(bool adopted, void (*tell)(const Fault&));
/// From here on that handler, which cannot be unregistered, leaves events to the others.
void uninstall(std::uintptr_t registration) noexcept;
/// Keeps the code of the handler in the process for good.
void stay_loaded() noexcept;

/// The first fault of this agent in this process. One relaxed load while there is none.
std::optional<Fault> of(AgentRef agent);
/// Throws DeviceLost if there was one.
void refuse_lost(AgentRef agent, const char* call);

}  // namespace faults
}  // namespace hsadrv::detail
