// Order between work-items: barrier() for a work-group, wavebarrier() for a wave, fences for memory alone.
//
//     tile[get_local_id(0)] = x;
//     hsadrv::barrier(hsadrv::CLK_LOCAL_MEM_FENCE);
//     y = tile[255 - get_local_id(0)];
//
// The memory model is HSA's; LLVM's AMDGPUUsage, "Memory Model", lists the code of each order and scope on each target.
// On GFX9 it is s_waitcnt at work-group scope (on gfx90a in threadgroup-split mode also buffer_wbinvl1_vol); s_waitcnt
// vmcnt(0) and buffer_wbinvl1_vol at agent scope; at system scope gfx90a adds buffer_wbl2 and buffer_invl2.
#pragma once

#include "kernel.hpp"

namespace hsadrv {

/// The memory that a fence orders: OpenCL's names, which may be combined. OpenCL C's own header defines them as macros.
inline constexpr uint32_t CLK_LOCAL_MEM_FENCE = 1;   ///< LDS
inline constexpr uint32_t CLK_GLOBAL_MEM_FENCE = 2;  ///< global memory, including the host's

/// The threads that observe the order: HSA's scopes (with the compiler's numbers).
enum class MemoryScope : int { wavefront = 2, workgroup = 3, agent = 4, system = 5 };

/// The order of a fence: earlier accesses before later writes, earlier reads before later accesses, or both.
enum class MemoryOrder : int {
    acquire = __ATOMIC_ACQUIRE,
    release = __ATOMIC_RELEASE,
    acq_rel = __ATOMIC_ACQ_REL,
    seq_cst = __ATOMIC_SEQ_CST
};

namespace detail {

// The builtin requires literal arguments. From clang 19 on it can be limited to one kind of memory; before that, and if
// both are named, all memory is ordered, which is always sufficient.
#if __clang_major__ >= 19
#define HSADRV_FENCE_LOCAL , "local"
#define HSADRV_FENCE_GLOBAL , "global"
#else
#define HSADRV_FENCE_LOCAL
#define HSADRV_FENCE_GLOBAL
#endif
// clang-format off
#define HSADRV_FENCE_IN(scope, memory)                                                                          \
    if constexpr (Order == MemoryOrder::acquire) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, scope memory);        \
    else if constexpr (Order == MemoryOrder::release) __builtin_amdgcn_fence(__ATOMIC_RELEASE, scope memory);   \
    else if constexpr (Order == MemoryOrder::acq_rel) __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, scope memory);   \
    else __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, scope memory);
#define HSADRV_FENCE(scope)                                                                  \
    if (flags == CLK_LOCAL_MEM_FENCE) { HSADRV_FENCE_IN(scope, HSADRV_FENCE_LOCAL) }         \
    else if (flags == CLK_GLOBAL_MEM_FENCE) { HSADRV_FENCE_IN(scope, HSADRV_FENCE_GLOBAL) }  \
    else if (flags != 0) { HSADRV_FENCE_IN(scope, ) }
// clang-format on

template <MemoryOrder Order, MemoryScope Scope>
HSADRV_DEVICE void fence(uint32_t flags) {
    if constexpr (Scope == MemoryScope::wavefront) {
        HSADRV_FENCE("wavefront")
    } else if constexpr (Scope == MemoryScope::workgroup) {
        HSADRV_FENCE("workgroup")
    } else if constexpr (Scope == MemoryScope::agent) {
        HSADRV_FENCE("agent")
    } else {
        HSADRV_FENCE("")  // system
    }
}

#undef HSADRV_FENCE
#undef HSADRV_FENCE_IN
#undef HSADRV_FENCE_GLOBAL
#undef HSADRV_FENCE_LOCAL

}  // namespace detail

/// A fence for the memory in `flags`, which is a constant: OpenCL's atomic_work_item_fence. 0 is no fence.
template <MemoryOrder Order, MemoryScope Scope>
HSADRV_DEVICE void atomic_work_item_fence(uint32_t flags) {
    detail::fence<Order, Scope>(flags);
}

/// OpenCL's mem_fence: for the work-group, this work-item's earlier accesses are ordered before its later ones.
HSADRV_DEVICE void mem_fence(uint32_t flags) {
    atomic_work_item_fence<MemoryOrder::acq_rel, MemoryScope::workgroup>(flags);
}

/// Every work-item of the work-group arrives before any leaves. Earlier writes to memory in `flags` are visible
/// afterwards; with 0 it is only an execution barrier. A release fence, s_barrier and an acquire fence at work-group
/// scope; clang omits s_barrier if it knows that the work-group is one wave. Every work-item of the group must reach
/// the same barrier.
HSADRV_CONVERGENT void barrier(uint32_t flags = CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE) {
    atomic_work_item_fence<MemoryOrder::release, MemoryScope::workgroup>(flags);
    __builtin_amdgcn_s_barrier();
    atomic_work_item_fence<MemoryOrder::acquire, MemoryScope::workgroup>(flags);
}

/// The same for the work-items of a wave, which run in lockstep: emits no instruction, but the compiler moves no memory
/// access across it (wave_barrier and fences at wavefront scope).
HSADRV_CONVERGENT void wavebarrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

}  // namespace hsadrv
