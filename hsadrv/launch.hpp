// LaunchConfig: how many work-items a kernel runs on and what each work-group gets.
//
//     kernel.launch(stream, {.grid = 1 << 20, .workgroup = 256}, a, b, n);
//     kernel.launch(stream, {.grid = {1024, 1024}, .workgroup = {16, 16}, .lds = tiles(16)}, a, b, c);
//
// Thread safety: plain values. Source: HSA Platform System Architecture, kernel dispatch packet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/packet.hpp"
#include "shared/lds_layout.hpp"

namespace hsadrv {

struct LaunchConfig {
    Dim3 grid;  ///< work-items; the last (or only) work-group of a dimension may be partial
    /// Work-items. Left out: the size that the kernel requires (reqd_work_group_size), and an error for one that
    /// requires none; suggest_group_size(kernel) knows a good one.
    Dim3 workgroup = {0, 0, 0};
    shared::LdsDemand lds = {};  ///< LDS sized at launch: a layout, or bytes; comes behind the kernel's static LDS
    /// A work-item's stack, for kernels that use a dynamic one; 0: dynamic_stack_default_bytes.
    std::uint32_t stack_bytes = 0;
    Deadline deadline = {};  ///< for room in the queue and in the kernarg ring
};

/// What clang assumed for a call it could not see through before it could ask the runtime
/// (-amdgpu-assume-external-call-stack-size).
inline constexpr std::uint32_t dynamic_stack_default_bytes = 16384;

/// What an agent accepts.
struct LaunchLimits {
    std::uint32_t workgroup_max_workitems = 0;
    Dim3 workgroup_max_dim;
    std::uint64_t grid_max_workitems = 0;
    Dim3 grid_max_dim;
    std::size_t group_segment_max_bytes = 0;

    static LaunchLimits of(AgentRef agent);
};

}  // namespace hsadrv
