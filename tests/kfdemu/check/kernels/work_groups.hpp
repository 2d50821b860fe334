// For kernels whose work-groups of 128 work-items share memory.
#pragma once

#include "../../dispatch/kernels/kernel.hpp"

#define INLINE static inline __attribute__((always_inline))

inline constexpr int kGroup = 3;  // __HIP_MEMORY_SCOPE_WORKGROUP

INLINE u32 group() { return __builtin_amdgcn_workgroup_id_x(); }
INLINE u32 item() { return group() * 128 + local_x(); }
INLINE u32 add(u32* to, u32 n) { return __hip_atomic_fetch_add(to, n, __ATOMIC_RELAXED, kAgent); }
INLINE u32 load(const u32* from) { return __hip_atomic_load(from, __ATOMIC_RELAXED, kAgent); }
INLINE u32 load_in_group(const u32* from) { return __hip_atomic_load(from, __ATOMIC_RELAXED, kGroup); }
INLINE void store(u32* to, u32 n) { __hip_atomic_store(to, n, __ATOMIC_RELAXED, kAgent); }
INLINE void acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
INLINE void release() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }
