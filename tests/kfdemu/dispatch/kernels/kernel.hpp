// Common to the test kernels: no library, only the compiler's builtins.
#pragma once

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;

#define KERNEL extern "C" __attribute__((amdgpu_kernel, visibility("protected")))
#define LDS static __attribute__((address_space(3), loader_uninitialized))
#define LDS_POINTER __attribute__((address_space(3)))
/// Scopes of __hip_atomic_*, whose names only HIP defines.
enum : int { kWorkgroup = 3, kAgent = 4 };
/// Of the target: instructions that multiply matrices, and those of them for 64-bit floats.
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
#define HAS_MFMA 1
#define HAS_MFMA_F64 1
#elif defined(__gfx908__)
#define HAS_MFMA 1
#define HAS_MFMA_F64 0
#else
#define HAS_MFMA 0
#define HAS_MFMA_F64 0
#endif
#define NOINLINE __attribute__((noinline))

static inline u32 local_x() { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 global_x() {
    return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + local_x();
}
/// Of a wave.
static inline u32 lanes() { return __builtin_amdgcn_wavefrontsize(); }
static inline void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
