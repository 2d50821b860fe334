// Work-item ids and sizes as in OpenCL, for dimensions 0 to 2. Other dimensions return OpenCL's defaults: id 0, size 1.
//
//     uint32_t i = hsadrv::get_global_id(0);
//
// Ids come from registers that the packet processor fills. Sizes come from the dispatch packet and the hidden
// arguments, read through constant loads. An AQL dispatch has no global offset, so ids start at 0.
#pragma once

#include "kernel.hpp"

namespace hsadrv {

/// The work-item's position in its work-group: v0, v1, v2, or 10-bit fields of v0 on gfx90a and later.
HSADRV_DEVICE uint32_t get_local_id(uint32_t dimension) {
    switch (dimension) {
        case 0:
            return __builtin_amdgcn_workitem_id_x();
        case 1:
            return __builtin_amdgcn_workitem_id_y();
        case 2:
            return __builtin_amdgcn_workitem_id_z();
        default:
            return 0;
    }
}

/// The work-group's position in the grid.
HSADRV_DEVICE uint32_t get_group_id(uint32_t dimension) {
    switch (dimension) {
        case 0:
            return __builtin_amdgcn_workgroup_id_x();
        case 1:
            return __builtin_amdgcn_workgroup_id_y();
        case 2:
            return __builtin_amdgcn_workgroup_id_z();
        default:
            return 0;
    }
}

/// Work-items in the grid (the packet's grid_size).
HSADRV_DEVICE uint32_t get_global_size(uint32_t dimension) {
    switch (dimension) {
        case 0:
            return __builtin_amdgcn_grid_size_x();
        case 1:
            return __builtin_amdgcn_grid_size_y();
        case 2:
            return __builtin_amdgcn_grid_size_z();
        default:
            return 1;
    }
}

/// Work-items in a full work-group, as launched (OpenCL's get_enqueued_local_size).
HSADRV_DEVICE uint32_t get_enqueued_local_size(uint32_t dimension) {
    switch (dimension) {
        case 0:
            return __builtin_amdgcn_workgroup_size_x();
        case 1:
            return __builtin_amdgcn_workgroup_size_y();
        case 2:
            return __builtin_amdgcn_workgroup_size_z();
        default:
            return 1;
    }
}

/// Dimensions of the grid, 1 to 3: the dispatch packet's setup.
HSADRV_DEVICE uint32_t get_work_dim() {
    constexpr uint32_t setup_offset = 2, dimensions_mask = 3;  // hsa_kernel_dispatch_packet_t
    using Setup = const __attribute__((address_space(4))) uint16_t;
    const auto* packet = (const __attribute__((address_space(4))) unsigned char*)__builtin_amdgcn_dispatch_ptr();
    return *(Setup*)(packet + setup_offset) & dimensions_mask;
}

HSADRV_DEVICE uint32_t get_global_id(uint32_t dimension) {
    return get_group_id(dimension) * get_enqueued_local_size(dimension) + get_local_id(dimension);
}

/// Work-items in this work-group: fewer than the enqueued size in the last one if the grid is not a multiple of it.
HSADRV_DEVICE uint32_t get_local_size(uint32_t dimension) {
    const uint32_t full = get_enqueued_local_size(dimension);
    const uint32_t left = get_global_size(dimension) - get_group_id(dimension) * full;
    return left < full ? left : full;
}

/// Work-groups in the grid, including a partial last one.
HSADRV_DEVICE uint32_t get_num_groups(uint32_t dimension) {
    const uint32_t full = get_enqueued_local_size(dimension), all = get_global_size(dimension);
    return all / full + (all % full != 0 ? 1 : 0);
}

}  // namespace hsadrv
