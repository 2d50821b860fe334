// Work-groups of several waves that share LDS. MENDED: with the barrier.
#include "../../dispatch/kernels/kernel.hpp"

LDS volatile u32 tile[256];
LDS u32 count;

#define PAIR(name, body)                                              \
    KERNEL void name(const u32* in, u32* out) { body((void)0); }      \
    KERNEL void name##_mended(const u32* in, u32* out) { body(barrier()); }

#define READ_AFTER_WRITE(order) \
    tile[local_x()] = in[local_x()]; \
    order; \
    out[local_x()] = tile[255 - local_x()]
PAIR(read_after_write, READ_AFTER_WRITE)

#define WRITE_AFTER_READ(order) \
    tile[local_x()] = in[local_x()]; \
    barrier(); \
    const u32 other = tile[255 - local_x()]; \
    order; \
    tile[local_x()] = other; \
    barrier(); \
    out[local_x()] = tile[local_x()]
PAIR(write_after_read, WRITE_AFTER_READ)

#define WRITE_AFTER_WRITE(order) \
    tile[local_x()] = in[local_x()]; \
    order; \
    tile[255 - local_x()] = 7; \
    barrier(); \
    out[local_x()] = tile[local_x()]
PAIR(write_after_write, WRITE_AFTER_WRITE)

/// A tree whose last steps are meant for one wave but run in two.
#define REDUCE(order) \
    tile[local_x()] = in[local_x()]; \
    barrier(); \
    for (u32 half = 128; half > 0; half /= 2) { \
        if (local_x() < half) tile[local_x()] = tile[local_x()] + tile[local_x() + half]; \
        order; \
    } \
    out[local_x()] = local_x() == 0 ? tile[0] : 0
PAIR(reduce, REDUCE)

/// Counted with atomics, read without a barrier.
#define COUNT(order) \
    if (local_x() == 0) count = 0; \
    barrier(); \
    __hip_atomic_fetch_add((LDS_POINTER u32*)&count, in[local_x()] & 1, __ATOMIC_RELAXED, kWorkgroup); \
    order; \
    if (local_x() == 0) out[0] = count
PAIR(counted, COUNT)

/// Correct: the same bytes, but each wave has its own.
KERNEL void own_rows(const u32* in, u32* out) {
    tile[local_x()] = in[local_x()];
    out[local_x()] = tile[local_x() ^ 1];
}
/// Correct: only atomics.
KERNEL void only_atomics(const u32* in, u32* out) {
    out[local_x()] = __hip_atomic_fetch_add((LDS_POINTER u32*)&tile[in[local_x()] & 3], 1u, __ATOMIC_RELAXED, kWorkgroup);
}
/// Correct: everybody reads.
KERNEL void all_read(const u32* in, u32* out) {
    if (local_x() == 0) tile[0] = in[0];
    barrier();
    out[local_x()] = tile[0];
}
