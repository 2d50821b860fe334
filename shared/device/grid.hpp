// A barrier for all work-groups of a grid, in a cooperative launch: every work-group is resident.
//
//     HSADRV_KERNEL void relax(float* a, float* b, uint32_t n) {
//         for (uint32_t step = 0; step < n; ++step) {
//             …                          // writes b, reads a
//             hsadrv::grid_barrier();    // every work-group sees b
//             …
//         }
//     }
//     relax.launch(stream, {.grid = 64 * 256, .workgroup = 256, .cooperative = true}, a, b, n);
//
// The state is a hidden argument, hidden_multigrid_sync_arg; a launch that is not cooperative is refused, or, if the
// compiler has not optimised the kernel, traps. Code objects V4 have the argument at another offset: define
// HSADRV_CODE_OBJECT_VERSION as 4 for them (hsadrv-cc and hsadrv::compile do).
#pragma once

#include "../grid_state.hpp"
#include "barrier.hpp"
#include "kernel.hpp"

#if !defined(HSADRV_CODE_OBJECT_VERSION)
#define HSADRV_CODE_OBJECT_VERSION 5
#endif

namespace hsadrv {

namespace detail {

using GridState = HSADRV_GLOBAL shared::GridState;

HSADRV_DEVICE GridState* grid_state() {
    // LLVM AMDGPUUsage, Code Object V4 and V5 Metadata: hidden_multigrid_sync_arg.
    constexpr unsigned offset_bytes = HSADRV_CODE_OBJECT_VERSION < 5 ? 48 : 88;
    using Pointer = const __attribute__((address_space(4))) uint64_t;
    const auto* hidden = (const __attribute__((address_space(4))) unsigned char*)__builtin_amdgcn_implicitarg_ptr();
    return (GridState*)*(Pointer*)(hidden + offset_bytes);
}

/// For one work-item of each work-group.
HSADRV_DEVICE void meet(GridState* state) {
    constexpr int agent = static_cast<int>(MemoryScope::agent);
    // It does not change before this work-group has arrived.
    const uint32_t passed = __hip_atomic_load(&state->passed, __ATOMIC_RELAXED, agent);
    const uint32_t before = __hip_atomic_fetch_add(&state->arrived, 1u, __ATOMIC_ACQ_REL, agent);
    if (before + 1 == state->workgroups) {
        __hip_atomic_store(&state->arrived, 0u, __ATOMIC_RELAXED, agent);
        __hip_atomic_fetch_add(&state->passed, 1u, __ATOMIC_RELEASE, agent);
        return;
    }
    while (__hip_atomic_load(&state->passed, __ATOMIC_RELAXED, agent) == passed) __builtin_amdgcn_s_sleep(2);
}

}  // namespace detail

/// Every work-item of the grid arrives before any leaves, and sees afterwards what all have written to LDS and global
/// memory. A release at agent scope by each wave, one work-item of each work-group that counts, and an acquire. Every
/// work-item must reach the same barrier.
HSADRV_CONVERGENT void grid_barrier() {
    detail::GridState* const state = detail::grid_state();
    if (!state) __builtin_trap();
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __builtin_amdgcn_s_barrier();
    if ((__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() | __builtin_amdgcn_workitem_id_z()) == 0)
        detail::meet(state);
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
#if defined(__GFX9__) || defined(__GFX10__) || defined(__GFX11__)
    // Up to LLVM 20 an acquire does not invalidate the cache of scalar loads, although it may make loads after it
    // scalar (llvm-project#219991).
    asm volatile("s_dcache_inv\n\ts_waitcnt lgkmcnt(0)" ::: "memory");
#elif defined(__GFX12__)
    asm volatile("s_dcache_inv\n\ts_wait_kmcnt 0x0" ::: "memory");
#endif
}

}  // namespace hsadrv
