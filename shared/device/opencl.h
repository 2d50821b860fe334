/* OpenCL C's ids, barrier and additions for kernels compiled without device libraries.
 *
 *     #include "shared/device/opencl.h"
 *     __kernel void twice(__global float* p) { p[get_global_id(0)] *= 2; }
 *
 *     clang -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib ...
 *
 * The functions are OpenCL's own, by name and meaning; without this header they do not link. For freestanding C++:
 * device.hpp. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_H
#define HSADRV_SHARED_DEVICE_OPENCL_H

#define HSADRV_OPENCL static inline __attribute__((overloadable, always_inline))

HSADRV_OPENCL size_t get_local_id(uint dimension) {
    switch (dimension) {
        case 0: return __builtin_amdgcn_workitem_id_x();
        case 1: return __builtin_amdgcn_workitem_id_y();
        case 2: return __builtin_amdgcn_workitem_id_z();
        default: return 0;
    }
}

HSADRV_OPENCL size_t get_group_id(uint dimension) {
    switch (dimension) {
        case 0: return __builtin_amdgcn_workgroup_id_x();
        case 1: return __builtin_amdgcn_workgroup_id_y();
        case 2: return __builtin_amdgcn_workgroup_id_z();
        default: return 0;
    }
}

HSADRV_OPENCL size_t get_global_size(uint dimension) {
    switch (dimension) {
        case 0: return __builtin_amdgcn_grid_size_x();
        case 1: return __builtin_amdgcn_grid_size_y();
        case 2: return __builtin_amdgcn_grid_size_z();
        default: return 1;
    }
}

HSADRV_OPENCL size_t get_enqueued_local_size(uint dimension) {
    switch (dimension) {
        case 0: return __builtin_amdgcn_workgroup_size_x();
        case 1: return __builtin_amdgcn_workgroup_size_y();
        case 2: return __builtin_amdgcn_workgroup_size_z();
        default: return 1;
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

/* The fences order LDS and global memory whichever is named, which is never less than asked. */
HSADRV_OPENCL void barrier(cl_mem_fence_flags flags) {
    if (flags != 0) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    if (flags != 0) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* Relaxed, returning the value before. Scopes by clang's numbers: 3 is the work-group, 4 the agent. */
HSADRV_OPENCL uint atomic_add(volatile __local uint* address, uint value) {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, 3);
}
HSADRV_OPENCL int atomic_add(volatile __local int* address, int value) {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, 3);
}
HSADRV_OPENCL uint atomic_add(volatile __global uint* address, uint value) {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, 4);
}
HSADRV_OPENCL int atomic_add(volatile __global int* address, int value) {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, 4);
}

#endif
