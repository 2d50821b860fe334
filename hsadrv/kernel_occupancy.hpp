// Which work-group size suits a kernel, and how many work-groups fill its device: shared/occupancy.hpp's arithmetic
// with what the kernel's metadata and its agent's limits say.
//
//     SuggestedLaunch best = suggest_group_size(kernel);   // or: (kernel, bytes of dynamic LDS for each work-item)
//     SuggestedLaunch tile = suggest_group_size(kernel, [](std::uint32_t n) { return tile_of(n); });
//     kernel.launch(stream, {.grid = best.grid_workitems, .workgroup = best.workgroup}, ...);
//
// Functions of metadata and numbers, and of what the kernel's agent says of itself. Thread safety: any thread. Owns and
// keeps nothing. Throws: InvalidArgument for what a launch would refuse, in its words, for what no compute unit holds,
// and for a processor that is not in shared/compute_unit.hpp's table. Source: LLVM AMDGPUUsage, Code Object Metadata;
// hsa_ext_amd.h, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT.
#pragma once

#include <cstdint>
#include <functional>

#include "hsadrv/kernel.hpp"
#include "shared/group_size.hpp"

namespace hsadrv {

/// The dynamic LDS of a work-group of so many work-items.
using LdsOfGroupSize = std::function<shared::LdsDemand(std::uint32_t workitems)>;

struct SuggestedLaunch {
    Dim3 workgroup;                 ///< the required one; else in one dimension, to be folded as you like
    shared::LdsDemand dynamic_lds;  ///< of such a work-group
    shared::Occupancy occupancy;    ///< of a compute unit
    // On the whole device at once: what a grid that loops over its data needs. 0 where no device is known.
    std::uint32_t workgroups = 0;
    std::uint64_t grid_workitems = 0;
};

/// What a work-group of that kernel takes of a compute unit: its metadata's numbers, or its descriptor's where they are
/// larger.
shared::KernelResources resources_of(const KernelMetadata& kernel, std::uint32_t workgroup_workitems,
                                     std::uint32_t group_segment_bytes);

/// The work-group with which the most work-items are on a compute unit at once: shared::suggest_group_size()'s choice
/// of what a launch would accept. A kernel with .reqd_workgroup_size gets that one.
SuggestedLaunch suggest_group_size(const Kernel& kernel, const LdsOfGroupSize& dynamic_lds);
/// With so many bytes of dynamic LDS for each work-item, which are one array.
SuggestedLaunch suggest_group_size(const Kernel& kernel, std::uint32_t dynamic_lds_per_item = 0);
/// For a kernel that is not loaded, on compute units of that kind.
SuggestedLaunch suggest_group_size(const LaunchPlan& plan, const shared::ComputeUnit& unit,
                                   const LdsOfGroupSize& dynamic_lds);

/// How many work-groups of that size are on the whole device at once, if nothing else runs there and the stream's queue
/// has all compute units: for grids that loop over their data, and for work-groups that wait for one another.
std::uint32_t device_workgroups(const Kernel& kernel, Dim3 workgroup, const shared::LdsDemand& lds = {});

/// The most dynamic LDS, in plain bytes, with which a compute unit holds `workgroups` work-groups of that size at once.
/// Throws InvalidArgument, too, if it does not hold so many with none: which resource keeps it from that.
std::uint32_t available_dynamic_lds(const Kernel& kernel, Dim3 workgroup, std::uint32_t workgroups);
std::uint32_t available_dynamic_lds(const LaunchPlan& plan, const shared::ComputeUnit& unit, Dim3 workgroup,
                                    std::uint32_t workgroups);

}  // namespace hsadrv
