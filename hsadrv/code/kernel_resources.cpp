#include "hsadrv/kernel_resources.hpp"

#include <algorithm>

namespace hsadrv {

shared::KernelResources resources_of(const KernelMetadata& kernel, std::uint32_t workgroup_workitems,
                                     std::uint32_t group_segment_bytes) {
    return {.vgprs = std::max(kernel.vgpr_count, kernel.vgpr_floor),
            .sgprs = std::max(kernel.sgpr_count, kernel.sgpr_floor),
            .lds_bytes = group_segment_bytes,
            .workgroup_workitems = workgroup_workitems,
            .wavefront_size = kernel.wavefront_size,
            .workgroup_processor_mode = kernel.workgroup_processor_mode,
            .agprs = kernel.agpr_count};
}

}  // namespace hsadrv
