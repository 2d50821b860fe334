// What a work-group of a kernel takes of a compute unit, by its metadata; for shared/occupancy.hpp.
//
//     shared::Occupancy held = occupancy(unit, resources_of(kernel, 256, kernel.group_segment_fixed_bytes));
//
// A function of the metadata, for kernels that are not loaded as well. Thread safety: any thread. Source: LLVM
// AMDGPUUsage, Code Object Metadata.
#pragma once

#include <cstdint>

#include "hsadrv/metadata.hpp"
#include "shared/occupancy.hpp"

namespace hsadrv {

/// The compute unit's resources that a work-group of that kernel uses: the larger of the metadata's and the
/// descriptor's numbers.
shared::KernelResources resources_of(const KernelMetadata& kernel, std::uint32_t workgroup_workitems,
                                     std::uint32_t group_segment_bytes);

}  // namespace hsadrv
