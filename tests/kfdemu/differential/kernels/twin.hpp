// The words that a kernel and its host twin are both written in: one source, compiled for a GPU and for the host.
//
//     #define UNIT "sums"
//     #include "twin.hpp"
//     KERNEL(add_up, u32, u32, u32, .items = 512, .group = 64) { out[global_id()] = a[global_id()] + b[global_id()]; }
//
// KERNEL(name, A, B, OUT, options…) is a kernel of (const A* a, const B* b, OUT* out, u32 n); on the host it is a test
// case as well, which compares the two. The options are differential::Options (host.hpp); a GPU's compiler does not
// look at them. Between barriers and lane operations the host runs one work-item after the other, so a kernel may not
// wait in a loop for what another work-item stores, and all lanes of a wave take part in each lane operation.
#pragma once

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef float f32;
typedef double f64;

#if defined(__AMDGCN__) || defined(__HIP__)
#include "device.hpp"
#else
#include "host.hpp"
#endif

#define NOINLINE __attribute__((noinline))

/// True if this target and compiler have the feature. The host has all.
#define HAS_GFX(number) (GFX >= 0x##number)
#define HAS_CLANG(number) (CLANG >= number)

static inline u32 global_id() { return group_id() * group_size() + local_id(); }
static inline u32 lane() { return local_id() % wave_lanes(); }

template <class To, class From>
static inline To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To result;
    __builtin_memcpy(static_cast<void*>(&result), &value, sizeof result);
    return result;
}
template <class T>
static inline T smaller(T x, T y) {
    return y < x ? y : x;
}
template <class T>
static inline T larger(T x, T y) {
    return x < y ? y : x;
}
static inline u32 rotate_left(u32 v, u32 by) { return v << (by & 31) | v >> (-by & 31); }
static inline u32 rotate_right(u32 v, u32 by) { return v >> (by & 31) | v << (-by & 31); }
static inline u64 rotate_left64(u64 v, u32 by) { return v << (by & 63) | v >> (-by & 63); }
