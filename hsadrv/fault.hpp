// Internal: GPU memory faults, from the runtime's event handler to the streams that they concern.
//
// The runtime reports a fault's agent and address but not its queue, and ROCR 5.2 reports only the first of a
// process. So a fault is given at once to the only stream of that agent with work in flight; where there are
// several, a stream claims it when its own work has stopped moving (StreamCore::claim_fault). Thread safety:
// any thread.
#pragma once

#include <hsa/hsa.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "hsadrv/agent.hpp"
#include "hsadrv/allocation_record.hpp"

namespace hsadrv::detail {

class StreamCore;

struct Fault {
    AgentRef agent;
    std::uint64_t address;
    std::uint32_t reasons;  ///< hsa_amd_memory_fault_reason_t
    std::chrono::steady_clock::time_point when;
    std::optional<NearestAllocation> nearest = std::nullopt;  ///< as it was then
    std::string reason_text() const;  ///< "page not present, write to a read-only page"
    /// What lies there: "null", "no canonical address", "96 B behind the end of …", "never mapped …".
    std::string place_text() const;
};

namespace faults {

/// Registers the handler beside those that others registered, and forgets the faults of the runtime before. `adopted`:
/// the runtime was up already, and may stay up after us. Returns what to uninstall.
std::uintptr_t install(bool adopted);
/// From here on that handler, which cannot be unregistered, leaves events to the others.
void uninstall(std::uintptr_t registration) noexcept;
/// Keeps the code of the handler in the process for good.
void stay_loaded() noexcept;

/// The first fault of this agent since the runtime was initialised. One relaxed load while there is none.
std::optional<Fault> of(AgentRef agent);

}  // namespace faults
}  // namespace hsadrv::detail
