#include "hsadrv/launch.hpp"

namespace hsadrv {

LaunchLimits LaunchLimits::of(AgentRef agent) {
    return {agent.workgroup_max_workitems(), agent.workgroup_max_dim(), agent.grid_max_workitems(),
            agent.grid_max_dim(), agent.group_segment_max_bytes()};
}

}  // namespace hsadrv
