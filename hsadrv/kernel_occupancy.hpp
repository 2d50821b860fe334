// Work-group sizes with the best occupancy for a kernel, and how many work-groups fill its device: the arithmetic of
// shared/occupancy.hpp on the kernel's metadata and its agent's limits.
//
//     SuggestedLaunch best = suggest_group_size(kernel);   // or: (kernel, bytes of dynamic LDS per work-item)
//     SuggestedLaunch tile = suggest_group_size(kernel, [](std::uint32_t n) { return tile_of(n); });
//     kernel.launch(stream, {.grid = best.grid_workitems, .workgroup = best.workgroup}, ...);
//
// Functions of metadata, numbers and the agent's attributes; they keep no state. Thread safety: any thread.
// Throws: InvalidArgument for a work-group that a launch would refuse, with the launch's message, for one that does not
// fit on a compute unit, and for a processor that is not in shared/compute_unit.hpp's table. Source: LLVM AMDGPUUsage,
// Code Object Metadata; hsa_ext_amd.h, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT.
#pragma once

#include <cstdint>
#include <functional>

#include "hsadrv/kernel.hpp"
#include "hsadrv/kernel_resources.hpp"
#include "shared/group_size.hpp"

namespace hsadrv {

/// The dynamic LDS of a work-group of `workitems` work-items.
using LdsOfGroupSize = std::function<shared::LdsDemand(std::uint32_t workitems)>;

struct SuggestedLaunch {
    Dim3 workgroup;                 ///< the required one, or a one-dimensional one that the caller may reshape
    shared::LdsDemand dynamic_lds;  ///< of one such work-group
    shared::Occupancy occupancy;    ///< of a compute unit
    // Resident on the whole device at once: the grid for a grid-stride loop. 0 if no device is known.
    std::uint32_t workgroups = 0;
    std::uint64_t grid_workitems = 0;
};

/// The work-group with the most work-items resident on a compute unit: shared::suggest_group_size()'s choice of those
/// that a launch accepts. For a kernel with .reqd_workgroup_size, that one.
SuggestedLaunch suggest_group_size(const Kernel& kernel, const LdsOfGroupSize& dynamic_lds);
/// With dynamic LDS in proportion to the work-group: one array of `dynamic_lds_per_item` bytes per work-item.
SuggestedLaunch suggest_group_size(const Kernel& kernel, std::uint32_t dynamic_lds_per_item = 0);
/// For a kernel that is not loaded, on compute units described by `unit`.
SuggestedLaunch suggest_group_size(const LaunchPlan& plan, const shared::ComputeUnit& unit,
                                   const LdsOfGroupSize& dynamic_lds);

/// How many work-groups of that size are resident on the whole device, if nothing else runs there and the stream's
/// queue has all compute units: for grid-stride loops, and for work-groups that synchronise with one another.
std::uint32_t device_workgroups(const Kernel& kernel, Dim3 workgroup, const shared::LdsDemand& lds = {});

/// The most dynamic LDS in bytes with which `workgroups` work-groups of that size are resident on a compute unit.
/// Throws InvalidArgument, too, if they do not fit even without dynamic LDS, naming the limiting resource.
std::uint32_t available_dynamic_lds(const Kernel& kernel, Dim3 workgroup, std::uint32_t workgroups);
std::uint32_t available_dynamic_lds(const LaunchPlan& plan, const shared::ComputeUnit& unit, Dim3 workgroup,
                                    std::uint32_t workgroups);

}  // namespace hsadrv
