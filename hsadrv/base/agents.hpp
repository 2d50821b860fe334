// Internal: lists of agents: their check, and their native handles, as the runtime's calls take them.
//
//   require_gpus("hsadrv::IpcMemory::attach(4096 B)", gpus, driver.runtime());
//   const auto natives = native_agents(gpus);
//   hsa_amd_agents_allow_access(natives.size(), natives.data(), nullptr, memory);
//
// Thread safety: functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/refuse.hpp"
#include "hsadrv/base/runtime.hpp"

namespace hsadrv::detail {

/// Throws InvalidArgument for an empty list, and for an agent that is unknown or no GPU.
inline void require_gpus(const std::string& call, std::span<const AgentRef> gpus, const Runtime& runtime) {
    if (gpus.empty()) refuse(call, "no GPU was given");
    runtime.require_known(call, gpus);
    for (const AgentRef gpu : gpus)
        if (!gpu.is_gpu()) refuse(call, gpu.label() + " is not a GPU");
}

inline std::vector<hsa_agent_t> native_agents(std::span<const AgentRef> agents) {
    std::vector<hsa_agent_t> natives;
    for (const AgentRef agent : agents) natives.push_back(agent.native());
    return natives;
}

}  // namespace hsadrv::detail
