/* A barrier for all work-groups of a cooperative launch, in OpenCL C. Part of opencl.h; grid.hpp is the C++ version. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_GRID_H
#define HSADRV_SHARED_DEVICE_OPENCL_GRID_H

#if !defined(HSADRV_CODE_OBJECT_VERSION)
#define HSADRV_CODE_OBJECT_VERSION 5
#endif

/* Every work-item of the grid arrives before any leaves, and sees afterwards what all have written. */
HSADRV_OPENCL void grid_barrier(void) {
    /* grid_state.hpp: `workgroups`, `arrived` and `passed`. */
    __global uint* state =
        ((__global uint* const __constant*)__builtin_amdgcn_implicitarg_ptr())[HSADRV_CODE_OBJECT_VERSION < 5 ? 6 : 11];
    if (!state) __builtin_trap();
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __builtin_amdgcn_s_barrier();
    if ((__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() | __builtin_amdgcn_workitem_id_z()) == 0) {
        __global atomic_uint* const arrived = (__global atomic_uint*)(state + 11);
        __global atomic_uint* const passed = (__global atomic_uint*)(state + 12);
        const uint seen = __opencl_atomic_load(passed, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
        if (__opencl_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __OPENCL_MEMORY_SCOPE_DEVICE) + 1 == state[10]) {
            __opencl_atomic_store(arrived, 0u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
            __opencl_atomic_fetch_add(passed, 1u, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE);
        } else {
            while (__opencl_atomic_load(passed, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE) == seen)
                __builtin_amdgcn_s_sleep(2);
        }
    }
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
#if defined(__GFX9__) || defined(__GFX10__) || defined(__GFX11__)
    __asm__ volatile("s_dcache_inv\n\ts_waitcnt lgkmcnt(0)" ::: "memory"); /* grid.hpp says why */
#elif defined(__GFX12__)
    __asm__ volatile("s_dcache_inv\n\ts_wait_kmcnt 0x0" ::: "memory");
#endif
}

#endif
