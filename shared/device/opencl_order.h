/* Order between work-items in OpenCL C: barrier() for a work-group, wavebarrier() for a wave, mem_fence() for memory
 * alone. A part of opencl.h. For the instructions see barrier.hpp, the C++ version. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_ORDER_H
#define HSADRV_SHARED_DEVICE_OPENCL_ORDER_H

/* From clang 19 on a fence can be limited to one kind of memory; before, all memory is ordered, which is always
 * sufficient. */
#if __clang_major__ >= 19
#define HSADRV_FENCE(order, flags)                            \
    if (flags == CLK_LOCAL_MEM_FENCE)                         \
        __builtin_amdgcn_fence(order, "workgroup", "local");  \
    else if (flags == CLK_GLOBAL_MEM_FENCE)                   \
        __builtin_amdgcn_fence(order, "workgroup", "global"); \
    else if (flags != 0)                                      \
    __builtin_amdgcn_fence(order, "workgroup")
#else
#define HSADRV_FENCE(order, flags) \
    if (flags != 0) __builtin_amdgcn_fence(order, "workgroup")
#endif

/* For the work-group, this work-item's earlier accesses are ordered before its later ones. */
HSADRV_OPENCL void mem_fence(cl_mem_fence_flags flags) { HSADRV_FENCE(__ATOMIC_ACQ_REL, flags); }
HSADRV_OPENCL void read_mem_fence(cl_mem_fence_flags flags) { HSADRV_FENCE(__ATOMIC_ACQUIRE, flags); }
HSADRV_OPENCL void write_mem_fence(cl_mem_fence_flags flags) { HSADRV_FENCE(__ATOMIC_RELEASE, flags); }

HSADRV_OPENCL void barrier(cl_mem_fence_flags flags) {
    HSADRV_FENCE(__ATOMIC_RELEASE, flags);
    __builtin_amdgcn_s_barrier();
    HSADRV_FENCE(__ATOMIC_ACQUIRE, flags);
}
/* OpenCL 2.0's name for it. */
HSADRV_OPENCL void work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }

HSADRV_OPENCL void wavebarrier(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

#undef HSADRV_FENCE

#endif
