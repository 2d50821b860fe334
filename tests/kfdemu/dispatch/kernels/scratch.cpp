// The private segment: stack frames, spills, arrays indexed at run time, generic pointers.
#include "kernel.hpp"

NOINLINE static i32 fibonacci(i32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

KERNEL void recursion(i32* out) { out[global_x()] = fibonacci(static_cast<i32>(local_x() % 9)); }

KERNEL void stack_array(const u32* in, u32* out) {
    const u32 i = global_x();
    u32 words[40];
    u8 bytes[40];
    u64 longs[20];
    for (u32 k = 0; k < 40; ++k) {
        words[(k * 7 + i) % 40] = in[i] + k;
        bytes[(k * 3 + i) % 40] = static_cast<u8>(in[i] * k);
    }
    for (u32 k = 0; k < 20; ++k) longs[(k * 9 + i) % 20] = u64{words[k]} * bytes[k + 20];
    u64 sum = 0;
    for (u32 k = 0; k < 20; ++k) sum = sum * 31 + longs[(k + in[i]) % 20] + words[(k + in[i]) % 40];
    out[i] = static_cast<u32>(sum ^ sum >> 32);
}

struct Block {
    u16 odd[3];
    u8 more[7];
    double value;
};
NOINLINE static Block change(Block b, u32 by) {
    b.odd[1] = static_cast<u16>(b.odd[1] + by);
    b.more[by % 7] = 42;
    b.value *= 2;
    return b;
}
KERNEL void structs_by_value(const Block* in, Block* out) {
    const u32 i = global_x();
    out[i] = change(in[i], i);
}

NOINLINE static u32 sum_generic(const u32* from, u32 n) {
    u32 sum = 0;
    for (u32 k = 0; k < n; ++k) sum = sum * 3 + from[k];
    return sum;
}
NOINLINE static void fill_generic(u32* to, u32 n, u32 with) {
    for (u32 k = 0; k < n; ++k) to[k] = with + k;
}

/// One instruction reaches LDS, scratch and memory in different lanes.
KERNEL void generic_pointers(u32* global, u32* out) {
    alignas(8) LDS u32 shared[64 * 4];
    const u32 l = local_x();
    alignas(8) u32 mine[4];
    u32* where = l % 3 == 0 ? global + l * 4 : l % 3 == 1 ? (u32*)(shared + l * 4) : mine;
    fill_generic(where, 4, l * 10);
    out[l] = sum_generic(where, 4);
    u32 old = __hip_atomic_fetch_add(where + 1, 5u, __ATOMIC_RELAXED, kWorkgroup);
    out[64 + l] = old + where[1];
    u64 wide = 0;
    u64* long_where = reinterpret_cast<u64*>(where);
    wide = __hip_atomic_fetch_add(long_where + 1, 7ul, __ATOMIC_RELAXED, kWorkgroup);
    out[128 + l] = static_cast<u32>(wide + long_where[1]);
}

/// Unaligned halves and bytes on the stack, through generic pointers.
NOINLINE static u64 unaligned(const u8* bytes, u32 at) {
    u64 longer;
    u16 half;
    __builtin_memcpy(&longer, bytes + at, 8);
    __builtin_memcpy(&half, bytes + at + 3, 2);
    return longer + half;
}
KERNEL void unaligned_stack(const u8* in, u64* out) {
    const u32 i = global_x();
    u8 bytes[32];
    for (u32 k = 0; k < 32; ++k) bytes[k] = in[(i + k) % 64];
    out[i] = unaligned(bytes, i % 19);
}

constexpr u32 kAlive = 160;

/// More values alive than there are registers, so that some are spilled.
KERNEL void spills(const float* in, float* out) {
    const u32 i = global_x();
    float v[kAlive];
#pragma unroll
    for (u32 k = 0; k < kAlive; ++k) v[k] = in[(i * kAlive + k) % 4096];
#pragma unroll
    for (u32 r = 0; r < 3; ++r)
#pragma unroll
        for (u32 k = 0; k < kAlive; ++k) v[k] = v[k] * v[(k + 17) % kAlive] + v[(k + 41) % kAlive];
    float sum = 0;
#pragma unroll
    for (u32 k = 0; k < kAlive; ++k) sum += v[k];
    out[i] = sum;
}

KERNEL void stack_overflow(u32* out, u32 index) {
    volatile u32 small[4];
    small[index & 1] = 1;
    out[global_x()] = small[index];
}
