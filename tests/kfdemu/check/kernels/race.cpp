// Work-groups of several waves that share LDS, without and with (…_mended) what orders their accesses. The lines that
// race are marked with the kernel's name.
#include "../../dispatch/kernels/kernel.hpp"

#define INLINE static inline __attribute__((always_inline))

LDS volatile u32 tile[256];
LDS volatile u8 bytes[256];
LDS volatile u64 longs[256];
LDS u32 count, lock, keys[256];

INLINE void barrier_if(bool mended) {
    if (mended) barrier();
}
#define ADD(to, n) __hip_atomic_fetch_add((LDS_POINTER u32*)(to), (n), __ATOMIC_RELAXED, kWorkgroup)
INLINE u32 load(LDS_POINTER const u32* from) { return __hip_atomic_load(from, __ATOMIC_ACQUIRE, kWorkgroup); }
INLINE void store(LDS_POINTER u32* to, u32 n) { __hip_atomic_store(to, n, __ATOMIC_RELEASE, kWorkgroup); }

#define PAIR(name)                                                                     \
    INLINE void name##_body(const u32* in, u32* out, bool mended);                     \
    KERNEL void name(const u32* in, u32* out) { name##_body(in, out, false); }         \
    KERNEL void name##_mended(const u32* in, u32* out) { name##_body(in, out, true); } \
    INLINE void name##_body([[maybe_unused]] const u32* in, [[maybe_unused]] u32* out, bool mended)

PAIR(read_after_write) {
    tile[local_x()] = in[local_x()];  // read_after_write
    barrier_if(mended);
    out[local_x()] = tile[255 - local_x()];  // read_after_write
}

PAIR(write_after_read) {
    tile[local_x()] = in[local_x()];
    barrier();
    const u32 other = tile[255 - local_x()];  // write_after_read
    barrier_if(mended);
    tile[local_x()] = other + 1;  // write_after_read
}

PAIR(write_after_write) {
    tile[local_x()] = in[local_x()];  // write_after_write
    barrier_if(mended);
    tile[255 - local_x()] = 7;  // write_after_write
}

/// A tree whose last steps are meant for one wave but begin in two.
PAIR(reduce) {
    tile[local_x()] = in[local_x()];
    barrier();
    for (u32 half = 128; half > 0; half /= 2) {
        if (local_x() < half) {
            const u32 far = tile[local_x() + half];   // reduce
            tile[local_x()] = tile[local_x()] + far;  // reduce
        }
        barrier_if(mended);
    }
    if (local_x() == 0) out[0] = tile[0];  // reduce
}

PAIR(prefix) {
    tile[local_x()] = in[local_x()];
    barrier();
    for (u32 step = 1; step < 256; step *= 2) {
        const u32 n = local_x() >= step ? tile[local_x() - step] : 0;  // prefix
        barrier_if(mended);
        tile[local_x()] = tile[local_x()] + n;  // prefix
        barrier();
    }
    out[local_x()] = tile[local_x()];
}

/// Fills its tile again while others still read it.
PAIR(tiles) {
    u32 sum = 0;
    for (u32 n = 0; n < 3; ++n) {
        tile[local_x()] = in[local_x()] * n;  // tiles
        barrier();
        for (u32 k = 0; k < 64; ++k) sum += tile[(local_x() & ~15u) / 4 + k];  // tiles
        barrier_if(mended);
    }
    out[local_x()] = sum;
}

PAIR(transpose) {
    tile[local_x()] = in[local_x()];  // transpose
    barrier_if(mended);
    out[local_x()] = tile[local_x() % 16 * 16 + local_x() / 16];  // transpose
}

PAIR(stencil) {
    const u32 x = local_x();
    tile[x] = in[x];  // stencil
    barrier_if(mended);
    const u32 left = x == 0 ? 0 : tile[x - 1];  // stencil
    out[x] = left + tile[x];
}

/// One work-item decides for all.
PAIR(broadcast) {
    if (local_x() == 70) tile[3] = in[5];  // broadcast
    barrier_if(mended);
    out[local_x()] = tile[3];  // broadcast
}

PAIR(narrow) {
    bytes[local_x()] = static_cast<u8>(in[local_x()]);  // narrow
    barrier_if(mended);
    out[local_x()] = bytes[(local_x() + 1) & 255];  // narrow
}

PAIR(wide) {
    longs[local_x()] = in[local_x()];  // wide
    barrier_if(mended);
    out[local_x()] = static_cast<u32>(longs[local_x() ^ 128]);  // wide
}

/// Counted with atomics, read without a barrier.
PAIR(counted) {
    if (local_x() == 0) count = 0;
    barrier();
    ADD(&count, in[local_x()] & 1);  // counted
    barrier_if(mended);
    if (local_x() == 0) out[0] = count;  // counted
}

/// Zeroed by one wave while others already count.
PAIR(zeroed) {
    if (local_x() == 192) count = 0;  // zeroed
    barrier_if(mended);
    ADD(&count, in[local_x()] & 1);  // zeroed
}

NOINLINE static u32 far_read(const volatile u32* from) {
    return *from;  // generic
}
/// Through a pointer that may address any memory.
PAIR(generic) {
    tile[local_x()] = in[local_x()];  // generic
    barrier_if(mended);
    out[local_x()] = far_read((const volatile u32*)&tile[local_x() ^ 64]);
}

/// One element of data and a flag, which the defect does not look at.
PAIR(flagged) {
    if (local_x() == 0) count = 0;
    barrier();
    if (local_x() == 0) {
        tile[9] = in[0];  // flagged
        store((LDS_POINTER u32*)&count, 1);
    }
    if (local_x() == 64) {
        while (mended && load((LDS_POINTER u32*)&count) == 0) __builtin_amdgcn_s_sleep(1);
        out[0] = tile[9];  // flagged
    }
}

/// Each wave's first work-item adds to one element, with or without the lock.
PAIR(locked) {
    if (local_x() == 0) lock = 0;
    if (local_x() == 0) tile[0] = 0;
    barrier();
    if (local_x() % 64 == 0) {
        u32 open = 0;
        while (mended && !__hip_atomic_compare_exchange_strong((LDS_POINTER u32*)&lock, &open, 1u, __ATOMIC_ACQUIRE,
                                                               __ATOMIC_RELAXED, kWorkgroup))
            open = 0;
        tile[0] = tile[0] + in[local_x()] + 1;  // locked
        if (mended) store((LDS_POINTER u32*)&lock, 0);
    }
    barrier();
    out[local_x()] = tile[0];
}

/// Puts a key into a hash table, in which 0 is none. The loads are no atomics in the instruction set. A macro: races
/// are at the lines of the kernels.
#define INSERT(place, key)                                                                             \
    do {                                                                                               \
        const u32 mine = (key);                                                                        \
        for (place = mine * 76 & 255;;) {                                                              \
            const u32 there = __hip_atomic_load(keys + place, __ATOMIC_RELAXED, kWorkgroup);           \
            u32 none = 0;                                                                              \
            if (there == mine) break;                                                                  \
            if (there != 0)                                                                            \
                place = (place + 1) & 255;                                                             \
            else if (__hip_atomic_compare_exchange_strong(keys + place, &none, mine, __ATOMIC_RELAXED, \
                                                          __ATOMIC_RELAXED, kWorkgroup))               \
                break;                                                                                 \
        }                                                                                              \
    } while (false)

/// Read while others still insert.
PAIR(hashed) {
    keys[local_x()] = 0;
    barrier();
    u32 place;
    INSERT(place, in[local_x()] % 97 + 1);  // hashed
    barrier_if(mended);
    out[local_x()] = keys[local_x()] != 0;  // hashed
}

/// The table may be emptied after others have inserted.
PAIR(emptied) {
    keys[local_x()] = 0;  // emptied
    barrier_if(mended);
    u32 place;
    INSERT(place, in[local_x()] % 97 + 1);  // emptied
    barrier();
    out[local_x()] = keys[local_x()] != 0;
}

/// A sum for each key is read while others add to it.
PAIR(summed) {
    keys[local_x()] = 0;
    tile[local_x()] = 0;
    barrier();
    u32 sum = 0;
    for (u32 n = 0; n < 3; ++n) {
        u32 place;
        INSERT(place, (in[local_x()] + n) % 97 + 1);
        ADD(&tile[place], 1u);  // summed
        barrier_if(mended);
        sum += tile[place];  // summed
        barrier_if(mended);
    }
    out[local_x()] = sum;
}

/// Counters where a hash table was, which are read while others count; the compare-and-swap that follows is elsewhere.
PAIR(reused) {
    keys[local_x()] = 0;
    barrier();
    u32 place;
    INSERT(place, in[local_x()] % 97 + 1);
    barrier();
    keys[local_x()] = 0;
    barrier();
    ADD(&keys[place], 1u);  // reused
    barrier_if(mended);
    const u32 counted = __hip_atomic_load(keys + place, __ATOMIC_RELAXED, kWorkgroup);  // reused
    u32 none = place;
    __hip_atomic_compare_exchange_strong(out + local_x(), &none, counted, __ATOMIC_RELAXED, __ATOMIC_RELAXED, kAgent);
}

/// Correct: each wave has its own bytes.
KERNEL void own_rows(const u32* in, u32* out) {
    tile[local_x()] = in[local_x()];
    bytes[local_x()] = 3;
    out[local_x()] = tile[local_x() ^ 1] + bytes[local_x() ^ 2];
}
/// Correct: only atomics.
KERNEL void only_atomics(const u32* in, u32* out) { out[local_x()] = ADD(&tile[in[local_x()] & 3], 1u); }
/// Correct: everybody reads.
KERNEL void all_read(const u32* in, u32* out) {
    if (local_x() == 0) tile[0] = in[0];
    barrier();
    out[local_x()] = tile[0];
}
/// All write one value; every wave reads what it wrote itself.
KERNEL void same_value(const u32* in, u32* out) {
    for (u32 n = local_x() % lanes(); n < 256; n += lanes()) tile[n] = n * 3 + 1;
    out[local_x()] = tile[255 - local_x()] + in[0];
}
/// Correct: the turn goes from wave to wave, each of which adds to what the ones before it wrote.
KERNEL void in_turn(const u32* in, u32* out) {
    if (local_x() == 0) count = 0;
    if (local_x() == 0) tile[0] = 0;
    barrier();
    if (local_x() % 64 == 0) {
        while (load((LDS_POINTER u32*)&count) != local_x() / 64) __builtin_amdgcn_s_sleep(1);
        tile[0] = tile[0] + in[local_x()] + 1;
        store((LDS_POINTER u32*)&count, local_x() / 64 + 1);
    }
    barrier();
    out[local_x()] = tile[0];
}
/// Correct: a maximum by compare-and-swap, whose first load is no atomic in the instruction set.
KERNEL void greatest(const u32* in, u32* out) {
    if (local_x() == 0) count = 0;
    barrier();
    const u32 mine = in[local_x()] + local_x();
    u32 seen = __hip_atomic_load((LDS_POINTER u32*)&count, __ATOMIC_RELAXED, kWorkgroup);
    while (seen < mine && !__hip_atomic_compare_exchange_strong((LDS_POINTER u32*)&count, &seen, mine, __ATOMIC_RELAXED,
                                                                __ATOMIC_RELAXED, kWorkgroup)) {
    }
    barrier();
    if (local_x() == 0) out[0] = count;
}
/// Correct: waves arrive with an atomic each, and poll until all have: a barrier of their own.
KERNEL void arrived(const u32* in, u32* out) {
    if (local_x() == 0) count = 0;
    barrier();
    tile[local_x()] = in[local_x()];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (local_x() % lanes() == 0) __hip_atomic_fetch_add((LDS_POINTER u32*)&count, 1u, __ATOMIC_RELAXED, kWorkgroup);
    while (load((LDS_POINTER u32*)&count) != 256 / lanes()) __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[local_x()] = tile[local_x() ^ 64];
}
