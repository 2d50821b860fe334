// LaunchConfig: the grid of a kernel launch, and the size, LDS and stack of its work-groups.
//
//     kernel.launch(stream, {.grid = 1 << 20, .workgroup = 256}, a, b, n);
//     kernel.launch(stream, {.groups = {64, 64}, .workgroup = {16, 16}, .lds = tiles(16)}, a, b, c);
//
// Thread safety: plain values. Source: HSA Platform System Architecture, kernel dispatch packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/packet.hpp"
#include "shared/lds_layout.hpp"

namespace hsadrv {

struct LaunchConfig {
    Dim3 grid = {0, 0, 0};    ///< work-items; the last (or only) work-group of a dimension may be partial
    Dim3 groups = {0, 0, 0};  ///< in place of `grid`: whole work-groups, as CUDA and HIP count. Both is an error
    /// Work-items. Default: the size that the kernel requires (reqd_work_group_size); an error if it requires none.
    /// suggest_group_size(kernel) proposes a size.
    Dim3 workgroup = {0, 0, 0};
    shared::LdsDemand lds = {};  ///< LDS sized at launch: a layout, or bytes; follows the kernel's static LDS
    /// Stack per work-item, for kernels with a dynamic stack; 0: dynamic_stack_default_bytes.
    std::uint32_t stack_bytes = 0;
    Deadline deadline = {};  ///< for room in the queue and in the kernarg ring
    /// All work-groups are resident at once, so that they may wait for each other: grid_barrier() of
    /// shared/device/grid.hpp. Refused for a grid larger than device_workgroups() (kernel_occupancy.hpp). Cooperative
    /// launches of a GPU run one at a time, in the order of their submission, on a queue with all compute units: one
    /// whose stream waits, keeps those after it waiting. Other kernels delay them, and must not wait for them; if one
    /// fails, those after it fail, too. Only for Kernel::launch. Not in a stream's profile.
    bool cooperative = false;
};

/// The stack that clang assumed for a call to unknown code before the runtime could set its size
/// (-amdgpu-assume-external-call-stack-size).
inline constexpr std::uint32_t dynamic_stack_default_bytes = 16384;

namespace detail {
/// The sizes of a grid that an agent takes, by what its runtime reports.
Dim3 grid_limits(const Dim3& reported) noexcept;
/// The number of work-groups in each dimension that kernels for a target, "gfx1201", can number. gfx12 hands y and
/// z to a wave in one register (AMDGPUUsage, "SGPR Register Set Up Order": TTMP7).
inline Dim3 workgroup_limits(std::string_view target) noexcept {
    const std::uint32_t yz = target.starts_with("gfx12") ? 1u << 16 : UINT32_MAX;
    return {UINT32_MAX, yz, yz};
}
}  // namespace detail

/// An agent's limits.
struct LaunchLimits {
    std::uint32_t workgroup_max_workitems = 0;
    Dim3 workgroup_max_dim;
    std::uint64_t grid_max_workitems = 0;
    Dim3 grid_max_dim;
    std::size_t group_segment_max_bytes = 0;
    Dim3 max_workgroups = {UINT32_MAX, UINT32_MAX, UINT32_MAX};  ///< of a grid, in each dimension

    static LaunchLimits of(AgentRef agent);
};

}  // namespace hsadrv
