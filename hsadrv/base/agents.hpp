// Internal: the native handles of agents, as the runtime's calls take them.
//
//   const auto natives = native_agents(gpus);
//   hsa_amd_agents_allow_access(natives.size(), natives.data(), nullptr, memory);
//
// Thread safety: functions. Throws: bad_alloc alone.
#pragma once

#include <span>
#include <vector>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

inline std::vector<hsa_agent_t> native_agents(std::span<const AgentRef> agents) {
    std::vector<hsa_agent_t> natives;
    for (const AgentRef agent : agents) natives.push_back(agent.native());
    return natives;
}

}  // namespace hsadrv::detail
