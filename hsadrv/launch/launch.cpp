#include "hsadrv/launch.hpp"

namespace hsadrv {

// Newer runtimes report what HIP allows for a grid of blocks, {INT32_MAX, 65535, 65535}. A packet's grid is of
// work-items, of 32 bits each.
Dim3 detail::grid_limits(const Dim3& reported) noexcept {
    constexpr std::uint32_t of_blocks = 65535, most = UINT32_MAX;
    return reported.y == of_blocks && reported.z == of_blocks ? Dim3(most, most, most) : reported;
}

LaunchLimits LaunchLimits::of(AgentRef agent) {
    return {agent.workgroup_max_workitems(), agent.workgroup_max_dim(),
            agent.grid_max_workitems(),      detail::grid_limits(agent.grid_max_dim()),
            agent.group_segment_max_bytes(), detail::workgroup_limits(agent.name())};
}

}  // namespace hsadrv
