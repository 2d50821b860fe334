/* OpenCL C's ids, barriers, atomics and exchange between lanes of a wave, for kernels compiled without device
 * libraries.
 *
 *     #include "shared/device/opencl.h"
 *     __kernel void twice(__global float* p) { p[get_global_id(0)] *= 2; }
 *
 *     clang -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib ...
 *
 * The functions have OpenCL's names and semantics; without this header they do not link. For freestanding C++:
 * device.hpp. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_H
#define HSADRV_SHARED_DEVICE_OPENCL_H

#define HSADRV_OPENCL static inline __attribute__((overloadable, always_inline))

HSADRV_OPENCL size_t get_local_id(uint dimension) {
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

HSADRV_OPENCL size_t get_group_id(uint dimension) {
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

HSADRV_OPENCL size_t get_global_size(uint dimension) {
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

HSADRV_OPENCL size_t get_enqueued_local_size(uint dimension) {
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

/* An AQL dispatch has no global offset. */
HSADRV_OPENCL size_t get_global_offset(uint dimension) { return dimension * 0; }

HSADRV_OPENCL size_t get_global_id(uint dimension) {
    return (uint)get_group_id(dimension) * (uint)get_enqueued_local_size(dimension) + (uint)get_local_id(dimension);
}

HSADRV_OPENCL size_t get_local_size(uint dimension) {
    const uint full = get_enqueued_local_size(dimension);
    const uint left = (uint)get_global_size(dimension) - (uint)get_group_id(dimension) * full;
    return left < full ? left : full;
}

HSADRV_OPENCL size_t get_num_groups(uint dimension) {
    const uint full = get_enqueued_local_size(dimension), all = get_global_size(dimension);
    return all / full + (all % full != 0);
}

HSADRV_OPENCL uint get_work_dim(void) {
    /* hsa_kernel_dispatch_packet_t: setup, bits 0 and 1. */
    return ((const __constant ushort*)__builtin_amdgcn_dispatch_ptr())[1] & 3;
}

#include "opencl_atomic.h"
#include "opencl_grid.h"
#include "opencl_order.h"
#include "opencl_wave.h"
#include "opencl_wave_reduce.h"

#endif
