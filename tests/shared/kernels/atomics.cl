// Every atomic on LDS and on global memory, by all work-items at once: atomics.cpp's kernels in OpenCL C.
#include "shared/device/opencl.h"

#include "atomic_rows.h"

#define ALL(at, prefix, type, value, given_back)                                                   \
    {                                                                                              \
        const type before = prefix##_add(&at[atomic_row_add], (type)1);                            \
        given_back[before] = before + 1;                                                           \
        prefix##_sub(&at[atomic_row_sub], value);                                                  \
        prefix##_min(&at[atomic_row_min], value);                                                  \
        prefix##_max(&at[atomic_row_max], value);                                                  \
        prefix##_and(&at[atomic_row_and], ~((type)1 << ((uint)value % 23)));                       \
        prefix##_or(&at[atomic_row_or], (type)1 << ((uint)value % 29));                            \
        prefix##_xor(&at[atomic_row_xor], value);                                                  \
        const type out = prefix##_xchg(&at[atomic_row_exchange], value);                           \
        prefix##_add(&at[atomic_row_exchange_sum], value - out);                                   \
        type found = at[atomic_row_compare_exchange];                                              \
        for (;;) {                                                                                 \
            const type now = prefix##_cmpxchg(&at[atomic_row_compare_exchange], found, found + 3); \
            if (now == found) break;                                                               \
            found = now;                                                                           \
        }                                                                                          \
    }

#define INTEGERS(suffix, prefix, type)                                                        \
    __kernel void atomics_##suffix(volatile __global type* global_, __global type* lds_slots, \
                                   __global type* given_back, type first) {                   \
        volatile __local type lds[atomic_rows];                                               \
        const uint i = get_local_id(0);                                                       \
        if (i < atomic_rows) lds[i] = lds_slots[i];                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                         \
        const type in_group = first + (type)i, in_grid = first + (type)get_global_id(0);      \
        ALL(lds, prefix, type, in_group, given_back)                                          \
        __global type* of_grid = given_back + get_global_size(0);                             \
        ALL(global_, prefix, type, in_grid, of_grid)                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                         \
        if (get_group_id(0) == 0 && i < atomic_rows) lds_slots[atomic_rows + i] = lds[i];     \
    }
INTEGERS(u32, atomic, uint)
INTEGERS(i32, atomic, int)
INTEGERS(u64, atom, ulong)
INTEGERS(i64, atom, long)

#define FLOATS(suffix, type)                                                        \
    __kernel void atomics_##suffix(__global type* sums, __global type* exchanged) { \
        __local type lds[2];                                                        \
        const uint i = get_local_id(0);                                             \
        if (i < 2) lds[i] = 0;                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                               \
        const type value = (type)(i % 7) - 3;                                       \
        atomic_add(&lds[0], value);                                                 \
        atomic_add(&lds[1], -value);                                                \
        atomic_add(sums, value);                                                    \
        atomic_add(sums + 1, value);                                                \
        atomic_add(sums + 2, atomic_add(sums + 3, (type)1));                        \
        atomic_add(exchanged, value - atomic_xchg(exchanged + 1, value));           \
        barrier(CLK_LOCAL_MEM_FENCE);                                               \
        if (get_group_id(0) == 0 && i < 2) sums[4 + i] = lds[i];                    \
    }
FLOATS(f32, float)
FLOATS(f64, double)
