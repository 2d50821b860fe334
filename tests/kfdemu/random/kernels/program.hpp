// The frame of a random program: a kernel on the device; on the host a function that runs one work-group, each of its
// work-items in turn between two places where they meet.
//
//     struct S7 { u32 v0; f32 v1; };
//     PROGRAM(7, 64)                          // work-items of a group
//         SHARED(u32, lds, 256);
//         EACH { S.v0 = K[3] + lid; }         // S: the state of this work-item; K: the same numbers for all
//         EACH { lds[lid] = S.v0; }
//         MEET
//         EACH { S.v0 = lds[lid ^ 1]; }
//         EACH { put(out, S.v0); }
//     END
//
// In scope: lid, gid, group, K (uniform words), cells (kCell bytes of this work-item's own), sums (see below), out.
#pragma once

#include "floats.hpp"
#include "lanes.hpp"
#include "machine.hpp"

inline constexpr u32 kInputs = 1024;  // words; a power of two
inline constexpr u32 kCell = 64;      // bytes
inline constexpr u32 kOuts = 64;      // u64 for each work-item

/// Two of the words.
FN u64 wide(const u32* words, u32 at) { return u64(words[at & (kInputs - 1)]) << 32 | words[(at + 1) & (kInputs - 1)]; }

/// Memory that all work-items change by order-independent operations: one operation per word.
struct Sums {
    u32 add[4], exclusive_or[4], all[4], any[4], least[4], most[4];
    i32 signed_least[4], signed_most[4];
    u64 add_64[4], most_64[4];
    f32 add_float[4];  // of small whole numbers
    f64 add_double[4];
};

/// The value, in vector registers. Where lanes part ways and meet in more than one place, as in a switch, LLVM (16, 19)
/// keeps what is the same for all lanes of a side, and undefined on the other, in scalar registers that the other side
/// writes in between (PHINode::hasConstantOrUndefValue).
template <class T>
FN T parted(T a) {
#if ON_DEVICE
    u32x4 whole = 0;
    __builtin_memcpy(&whole, &a, sizeof a);
    for (u32 n = 0; n < (sizeof a + 3) / 4; ++n) {
        u32 word = whole[n];
        asm("" : "+v"(word));
        whole[n] = word;
    }
    __builtin_memcpy(&a, &whole, sizeof a);
#endif
    return a;
}

#if ON_DEVICE

#ifdef __HIP__
#define KERNEL __attribute__((global))
#define SHARED(type, name, count) static __attribute__((shared)) type name[count]
#else
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define SHARED(type, name, count) static __attribute__((address_space(3), loader_uninitialized)) type name[count]
#endif
#define PROGRAM(number, size)                                                                        \
    extern "C" KERNEL void k##number(const u32* K, u8* all_cells, Sums* sums, u64* outs) {           \
        const u32 lid = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x(); \
        const u32 gid = group * size + lid;                                                          \
        u64* const out = outs + gid * kOuts;                                                         \
        u8* const cells = all_cells + gid * kCell;                                                   \
        S##number s;                                                                                 \
        (void)sums, (void)cells, (void)out, (void)K;
#define END }
#define EACH
#define S s
#define MEET                                               \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#define EXCHANGE(to, what, where, ...) \
    if (where) S.to = Lanes{S.what, S.to}.__VA_ARGS__;
#define ATOMIC(place, operation, value) (void)__hip_atomic_fetch_##operation(&(place), value, __ATOMIC_RELAXED, kAgent)
#define ATOMIC_OLD(place, operation, value) __hip_atomic_fetch_##operation(&(place), value, __ATOMIC_RELAXED, kAgent)
#define ATOMIC_SWAP(place, value) __hip_atomic_exchange(&(place), value, __ATOMIC_RELAXED, kAgent)
enum : int { kAgent = 4 };  // __HIP_MEMORY_SCOPE_AGENT, which only HIP defines

#else

#define PROGRAM(number, size)                                                                  \
    extern "C" void k##number(const u32* K, u8* all_cells, Sums* sums, u64* outs, u32 group) { \
        static S##number states[size];                                                         \
        constexpr u32 group_size = size;                                                       \
        (void)sums, (void)K;
#define END }
#define SHARED(type, name, count) static type name[count]
// An EACH is one statement long.
#define EACH                                                                           \
    for (u32 lid = 0, gid = group * group_size; lid < group_size; ++lid, ++gid)        \
        for (u8* cells = all_cells + gid * kCell, *once = cells; once; once = nullptr) \
            for (u64* out = outs + gid * kOuts; out; out = nullptr)
#define S states[lid]
#define MEET
#define EXCHANGE(to, what, where, ...)                                                         \
    {                                                                                          \
        u32 told[group_size];                                                                  \
        bool running[group_size];                                                              \
        EACH told[lid] = S.what, running[lid] = where, (void)gid, (void)cells, (void)out;      \
        EACH if (running[lid]) S.to = Lanes{told, running, group_size, lid, S.to}.__VA_ARGS__; \
    }
template <class T>
FN T old_of(T& place, T value) {
    const T old = place;
    place = value;
    return old;
}
#define APPLY_add(a, b) (a) + (b)
#define APPLY_xor(a, b) (a) ^ (b)
#define APPLY_and(a, b) (a) & (b)
#define APPLY_or(a, b) (a) | (b)
#define APPLY_min(a, b) minimum(a, b)
#define APPLY_max(a, b) maximum(a, b)
#define ATOMIC_OLD(place, operation, value) old_of<decltype(+(place))>(place, APPLY_##operation(place, value))
#define ATOMIC(place, operation, value) (void)ATOMIC_OLD(place, operation, value)
#define ATOMIC_SWAP(place, value) old_of<decltype(+(place))>(place, value)

#endif
