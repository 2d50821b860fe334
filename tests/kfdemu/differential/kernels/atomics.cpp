// Atomics in memory and in LDS. What each returns is compared where no other work-item comes between; where all meet,
// what they leave.
#define UNIT "atomics"
#include "twin.hpp"

template <class T>
static inline void each_alone(const T* a, const T* b, T* out) {
    const u32 i = global_id();
    T* mine = out + i * 20;
    const T x = a[i], y = b[i];
    mine[10] = atomic_add(mine, x);
    mine[11] = atomic_sub(mine + 1, x);
    mine[12] = atomic_and(mine + 2, x);
    mine[13] = atomic_or(mine + 3, x);
    mine[14] = atomic_xor(mine + 4, x);
    mine[15] = atomic_min(mine + 5, x);
    mine[16] = atomic_max(mine + 6, x);
    mine[17] = atomic_exchange(mine + 7, x);
    T expected = i & 1 ? y : mine[8];
    mine[18] = atomic_replace(mine + 8, &expected, x) ? 1 : 0;
    mine[19] = expected;
}
KERNEL(atomics_u32, u32, u32, u32, .out = 20, .out_random = true) { each_alone(a, b, out); }
KERNEL(atomics_i32, i32, i32, i32, .out = 20, .out_random = true) { each_alone(a, b, out); }
KERNEL(atomics_u64, u64, u64, u64, .out = 20, .out_random = true) { each_alone(a, b, out); }
KERNEL(atomics_i64, i64, i64, i64, .out = 20, .out_random = true) { each_alone(a, b, out); }

KERNEL(atomics_wrapping_u32, u32, u32, u32, .out = 4, .out_random = true) {
    u32* mine = out + global_id() * 4;
    mine[2] = atomic_increment(mine, a[global_id()]);
    mine[3] = atomic_decrement(mine + 1, b[global_id()]);
}
KERNEL(atomics_wrapping_u64, u64, u64, u64, .out = 4, .out_random = true) {
    u64* mine = out + global_id() * 4;
    mine[2] = atomic_increment(mine, a[global_id()]);
    mine[3] = atomic_decrement(mine + 1, b[global_id()]);
}

template <class T>
static inline void all_at_once(const T* a, T* out) {
    const u32 i = global_id(), where = i % 4 * 8;
    atomic_add(out + where, a[i]);
    atomic_sub(out + where + 1, a[i]);
    atomic_and(out + where + 2, T(a[i] | 0x0f0f));
    atomic_or(out + where + 3, T(a[i] & 0x7070));
    atomic_xor(out + where + 4, a[i]);
    atomic_min(out + where + 5, a[i]);
    atomic_max(out + where + 6, a[i]);
}
KERNEL(contended_u32, u32, u32, u32, .group = 128, .out_random = true) { all_at_once(a, out); }
KERNEL(contended_i64, i64, i64, i64, .group = 128, .out_random = true) { all_at_once(a, out); }

LDS(u32, atomics_lds, 64 * 10);
KERNEL(lds_atomics_u32, u32, u32, u32, .out = 20) {
    const u32 i = global_id(), l = local_id();
    u32* mine = GENERIC(u32, atomics_lds) + l * 10;
    for (u32 k = 0; k < 10; ++k) mine[k] = b[i] * (k + 1);
    u32* o = out + i * 20;
    const u32 x = a[i];
    o[0] = atomic_add(mine, x);
    o[1] = atomic_sub(mine + 1, x);
    o[2] = atomic_and(mine + 2, x);
    o[3] = atomic_or(mine + 3, x);
    o[4] = atomic_xor(mine + 4, x);
    o[5] = atomic_min(mine + 5, x);
    o[6] = atomic_max(mine + 6, x);
    o[7] = atomic_exchange(mine + 7, x);
    u32 expected = i & 1 ? x : mine[8];
    o[8] = atomic_replace(mine + 8, &expected, x) ? 1 : 0;
    o[9] = atomic_increment(mine + 9, x);
    for (u32 k = 0; k < 10; ++k) o[10 + k] = mine[k];
}

LDS(i64, wide_atomics_lds, 8);
KERNEL(lds_contended_i64, i64, i64, i64, .group = 256) {
    const u32 i = global_id(), l = local_id();
    i64* shared = GENERIC(i64, wide_atomics_lds);
    if (l < 8) shared[l] = b[group_id() * 8 + l];
    barrier();
    atomic_add(shared, a[i]);
    atomic_sub(shared + 1, a[i]);
    atomic_and(shared + 2, a[i] | 0xff00);
    atomic_or(shared + 3, a[i] & 0x0ff0);
    atomic_xor(shared + 4, a[i]);
    atomic_min(shared + 5, a[i]);
    atomic_max(shared + 6, a[i]);
    barrier();
    out[i] = shared[l % 8];
}

/// Floats by compare and exchange: whole numbers, so that every order gives the same sum.
KERNEL(float_sum, u32, u32, u32, .group = 128, .a_values = differential::Values::Tame) {
    u32* sum = out + group_id() % 2;
    u32 seen = *static_cast<volatile u32*>(sum);
    while (!atomic_replace(sum, &seen, bits_as<u32>(bits_as<f32>(seen) + f32(a[global_id()])))) {
    }
}

KERNEL(double_most, f64, u32, u64, .group = 128, .a_values = differential::Values::Tame) {
    u64* most = out + group_id() % 3;
    u64 seen = *static_cast<volatile u64*>(most);
    while (bits_as<f64>(seen) < a[global_id()] && !atomic_replace(most, &seen, bits_as<u64>(a[global_id()]))) {
    }
}

LDS(u32, table_lds, 1024);
/// Where a key is depends on who came first; how often it came does not.
KERNEL(hash_table, u32, u32, u32, .group = 256) {
    u32* table = GENERIC(u32, table_lds);
    for (u32 k = local_id(); k < 1024; k += 256) table[k] = 0;
    barrier();
    const u32 key = a[global_id()] % 300 + 1;
    u32 at = key * 2654435761u % 512;
    for (u32 seen = 0; !atomic_replace(table + at * 2, &seen, key) && seen != key; seen = 0) at = (at + 1) % 512;
    atomic_add<u32>(table + at * 2 + 1, b[global_id()]);
    barrier();
    out[global_id()] = table[at * 2 + 1] ^ key;
}

#undef UNIT
