// barrier(): every work-item of the work-group arrives before any leaves, and memory written before is
// visible after.
//
//     tile[get_local_id(0)] = x;
//     hsadrv::barrier(hsadrv::CLK_LOCAL_MEM_FENCE);
//
// Becomes a release fence, s_barrier and an acquire fence of work-group scope (LLVM's "Memory Model" in
// AMDGPUUsage); clang leaves s_barrier out where the work-group is known to be one wave. Every work-item of
// the group must reach it.
#pragma once

#include "kernel.hpp"

namespace hsadrv {

// OpenCL's names; OpenCL C's own header has them as macros.
inline constexpr uint32_t CLK_LOCAL_MEM_FENCE = 1;
inline constexpr uint32_t CLK_GLOBAL_MEM_FENCE = 2;

/// `scope`: which memory the work-items see alike afterwards. The fences order both LDS and global memory
/// whichever is named, which is never less than asked; 0 is an execution barrier alone.
HSADRV_DEVICE void barrier(uint32_t scope) {
    if (scope != 0) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    if (scope != 0) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

}  // namespace hsadrv
