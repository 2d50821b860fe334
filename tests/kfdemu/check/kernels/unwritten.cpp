// Kernels that use LDS or scratch which nothing wrote, each with its mended twin NAME_mended.
#include "../../dispatch/kernels/kernel.hpp"

#define PAIR(name)                                                             \
    KERNEL void name(const u32* in, u32* out) { name##_body<false>(in, out); } \
    KERNEL void name##_mended(const u32* in, u32* out) { name##_body<true>(in, out); }

LDS volatile u32 tile[64];
LDS volatile float floats[64];
LDS volatile u8 bytes[128];
LDS u32 counter;

template <bool fixed>
static inline void lds_sum_body(const u32*, u32* out) {
    const u32 n = local_x();
    if (fixed || n < 32) tile[n] = n;
    barrier();
    u32 sum = 0;
    for (u32 k = 0; k < 64; ++k) sum += tile[k];
    out[n] = sum;
}
PAIR(lds_sum)

template <bool fixed>
static inline void lds_index_body(const u32* in, u32* out) {
    const u32 n = local_x();
    if (fixed) tile[n] = n;
    barrier();
    out[n] = in[tile[63 - n] & 63];
}
PAIR(lds_index)

template <bool fixed>
static inline void lds_branch_body(const u32* in, u32* out) {
    const u32 n = local_x();
    out[n] = 0;
    if (fixed) tile[n] = n;
    barrier();
    if (tile[63 - n] == 7) out[n] = __hip_atomic_load(in + n, __ATOMIC_RELAXED, kAgent);
}
PAIR(lds_branch)

template <bool fixed>
static inline void lds_float_body(const u32*, u32* out) {
    const u32 n = local_x();
    if (fixed || n != 0) floats[n] = static_cast<float>(n);
    barrier();
    out[n] = static_cast<u32>(floats[n / 2] * 0.5f);
}
PAIR(lds_float)

template <bool fixed>
static inline void lds_bytes_body(const u32*, u32* out) {
    const u32 n = local_x();
    bytes[2 * n] = static_cast<u8>(n);
    if (fixed) bytes[2 * n + 1] = 0;
    barrier();
    out[n] = bytes[n] + 1u;
}
PAIR(lds_bytes)

template <bool fixed>
static inline void lds_counter_body(const u32*, u32* out) {
    const u32 n = local_x();
    if (fixed && n == 0) counter = 0;
    barrier();
    const u32 place = __hip_atomic_fetch_add(&counter, 1u, __ATOMIC_RELAXED, kWorkgroup);
    out[place & 63] = n;
}
PAIR(lds_counter)

template <bool fixed>
static inline void stack_sum_body(const u32* in, u32* out) {
    volatile u32 own[16];
    for (u32 k = 0; k < (fixed ? 16u : 15u); ++k) own[k] = in[k];
    u32 sum = 0;
    for (u32 k = 0; k < 16; ++k) sum += own[k];
    out[local_x()] = sum;
}
PAIR(stack_sum)

template <bool fixed>
static inline void stack_index_body(const u32* in, u32* out) {
    volatile u32 own[4];
    own[0] = 1;
    if (fixed) own[2] = 2;
    out[local_x()] = in[own[2] & 63];
}
PAIR(stack_index)

template <bool fixed>
static inline void stack_copy_body(const u32*, u32* out) {
    volatile u32 own[4];
    own[0] = 1;
    if (fixed) own[3] = 2;
    out[local_x()] = own[3];
}
PAIR(stack_copy)

NOINLINE static u32 sum_of(const volatile u32* values) { return values[0] + values[1]; }
template <bool fixed>
static inline void in_function_body(const u32*, u32* out) {
    volatile u32 own[2];
    own[0] = 1;
    if (fixed) own[1] = 2;
    out[local_x()] = sum_of(own);
}
PAIR(in_function)

template <bool fixed>
static inline void wide_body(const u32*, u32* out) {
    volatile u64 own[2];
    own[0] = local_x();
    if (fixed) own[1] = 1;
    const u64 product = own[0] * own[1] + 3;
    out[local_x()] = static_cast<u32>(product >> 32) ^ static_cast<u32>(product);
}
PAIR(wide)

/// Copies structures with padding, through the stack and LDS: correct.
struct Padded {
    u8 small;
    u32 large;
    u64 last;
};
LDS Padded staged[64];
KERNEL void silent_padding(const u32* in, u32* out) {
    const u32 n = local_x();
    Padded own;
    own.small = static_cast<u8>(in[n]);
    own.large = n;
    own.last = n;
    auto* shared = (Padded*)staged;
    shared[n] = own;
    barrier();
    const Padded other = shared[63 - n];
    if (n < 8) reinterpret_cast<Padded*>(out)[n] = other;
}

// Memory: a defect if nothing has written `in`.
KERNEL void memory_sum(const u32* in, u32* out) { out[local_x()] = in[local_x()] + 1; }
KERNEL void memory_uniform(const u32* in, u32* out) { out[local_x()] = in[3] * local_x(); }
KERNEL void memory_index(const u32* in, u32* out) { out[local_x()] = in[in[local_x()] & 63]; }
KERNEL void memory_bytes(const u8* in, u32* out) { out[local_x()] = in[local_x() + 1] + 1u; }
KERNEL void memory_add(u32* in, u32*) { __hip_atomic_fetch_add(in + local_x(), 1u, __ATOMIC_RELAXED, kAgent); }
KERNEL void silent_copy(const u32* in, u32* out) { out[local_x()] = in[local_x()]; }
