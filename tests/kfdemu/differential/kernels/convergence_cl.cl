// convergence.cpp's shapes in OpenCL C, by shared/device/opencl.h.
#include "shared/device/opencl.h"

#define u32 uint
#define NOINLINE __attribute__((noinline)) static
#define INLINE __attribute__((always_inline)) static inline
#define FALLTHROUGH __attribute__((fallthrough))
#define LDS_ARRAY(type, name, count) __local type name[count]
#define SHAPE_KERNEL(name) __kernel void name(__global const u32* a, __global const u32* b, __global u32* out, u32 n)

#define CALLING_KERNEL(name) SHAPE_KERNEL(name)

#define local_id() ((u32)get_local_id(0))
#define global_id() ((u32)get_global_id(0))
#define wave_sum(place, x) wave_reduce_add((u32)(x))
#define wave_scan(place, x) wave_exclusive_scan_add((u32)(x))
#define votes(place, condition) ((u32)__builtin_popcountl(wave_ballot(condition)))
#define first_lane(place, x) read_first_lane((u32)(x))
#define pull(place, x, from) ds_bpermute(from, (u32)(x))
#define push(place, x, to) ds_permute(to, (u32)(x))
#define group_barrier() barrier(CLK_LOCAL_MEM_FENCE)
#define lds_add(at, x) atomic_add(at, x)

#include "convergence_operations.h"
