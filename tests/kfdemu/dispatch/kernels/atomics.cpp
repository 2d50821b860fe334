// Atomics on global memory and LDS; every operation, with and without its result.
#include "kernel.hpp"

#define AGENT __ATOMIC_RELAXED, kAgent

/// cells[k] gets operation k from every work-item; the old values of the additions go to `tickets`.
template <class T, class S>
static inline void integers(T* cells, S* signed_cells, T* tickets) {
    const u32 i = global_x();
    const T v = static_cast<T>(i) * 2654435761u;
    tickets[i] = __hip_atomic_fetch_add(&cells[0], T{1}, AGENT);
    __hip_atomic_fetch_add(&cells[1], v, AGENT);
    __hip_atomic_fetch_sub(&cells[2], v, AGENT);
    __hip_atomic_fetch_and(&cells[3], ~(T{1} << (i % (sizeof(T) * 8))), AGENT);
    __hip_atomic_fetch_or(&cells[4], T{1} << (i % 29), AGENT);
    __hip_atomic_fetch_xor(&cells[5], v, AGENT);
    __hip_atomic_fetch_min(&cells[6], v, AGENT);
    __hip_atomic_fetch_max(&cells[7], v, AGENT);
    __hip_atomic_fetch_min(&signed_cells[0], static_cast<S>(v << (sizeof(T) == 8 ? 32 : 0)), AGENT);
    __hip_atomic_fetch_max(&signed_cells[1], static_cast<S>(v << (sizeof(T) == 8 ? 32 : 0)), AGENT);
    T expected = cells[8];
    while (!__hip_atomic_compare_exchange_strong(&cells[8], &expected, expected * 3 + 1, __ATOMIC_RELAXED, AGENT)) {
    }
    __hip_atomic_exchange(&cells[9], v | 1, AGENT);
}

KERNEL void integers_32(u32* cells, i32* signed_cells, u32* tickets) { integers(cells, signed_cells, tickets); }
KERNEL void integers_64(u64* cells, i64* signed_cells, u64* tickets) { integers(cells, signed_cells, tickets); }

KERNEL void wrapping(u32* cells) {
    __builtin_amdgcn_atomic_inc32(&cells[0], 99u, __ATOMIC_RELAXED, "agent");
    __builtin_amdgcn_atomic_dec32(&cells[1], 99u, __ATOMIC_RELAXED, "agent");
}

KERNEL void floats(float* single, double* twice) {
    __hip_atomic_fetch_add(single, 0.5f, AGENT);
    __hip_atomic_fetch_add(twice, 0.25, AGENT);
}

#if defined(__gfx90a__)
typedef __attribute__((address_space(1))) float GlobalFloat;
typedef __attribute__((address_space(1))) double GlobalDouble;
typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
typedef __attribute__((address_space(1))) Half2 GlobalHalf2;

KERNEL void hardware_floats(float* single, double* twice, Half2* halves, float* old) {
    const u32 i = global_x();
    old[i] = __builtin_amdgcn_global_atomic_fadd_f32((GlobalFloat*)(single), 0.5f);
    __builtin_amdgcn_global_atomic_fadd_f64((GlobalDouble*)(twice), 0.25);
    __builtin_amdgcn_global_atomic_fmin_f64((GlobalDouble*)(twice + 1), -1.0 * i);
    __builtin_amdgcn_global_atomic_fmax_f64((GlobalDouble*)(twice + 2), 1.5 * i);
    __builtin_amdgcn_global_atomic_fadd_v2f16((GlobalHalf2*)(halves), Half2{1, 0.5f});
}
#endif

/// The same on LDS; one work-group.
KERNEL void lds_atomics(u32* out32, u64* out64, float* out_float, u32* tickets) {
    LDS u32 a[10];
    LDS u64 b[10];
    LDS float f;
    const u32 l = local_x();
    if (l < 10) {
        a[l] = l == 3 || l == 6 ? ~0u : 0;
        b[l] = l == 3 || l == 6 ? ~0ul : 0;
    }
    if (l == 0) f = 1.0f;
    barrier();
    const u32 v = (l + 1) * 2654435761u;
    tickets[l] = __hip_atomic_fetch_add(&a[0], 1u, AGENT);
    tickets[256 + l] = static_cast<u32>(__hip_atomic_fetch_add(&b[0], 1ul, AGENT));
    __hip_atomic_fetch_add(&a[1], v, AGENT);
    __hip_atomic_fetch_sub(&a[2], v, AGENT);
    __hip_atomic_fetch_and(&a[3], ~(1u << (l % 32)), AGENT);
    __hip_atomic_fetch_or(&a[4], 1u << (l % 29), AGENT);
    __hip_atomic_fetch_xor(&a[5], v, AGENT);
    __hip_atomic_fetch_min(&a[6], v, AGENT);
    __hip_atomic_fetch_max(&a[7], v, AGENT);
    __hip_atomic_fetch_add(&b[1], u64{v} << 16, AGENT);
    __hip_atomic_fetch_sub(&b[2], u64{v} << 16, AGENT);
    __hip_atomic_fetch_and(&b[3], ~(1ul << (l % 64)), AGENT);
    __hip_atomic_fetch_or(&b[4], 1ul << (l % 29), AGENT);
    __hip_atomic_fetch_xor(&b[5], u64{v} << 16, AGENT);
    __hip_atomic_fetch_min(&b[6], u64{v} << 16, AGENT);
    __hip_atomic_fetch_max(&b[7], u64{v} << 16, AGENT);
    u32 expected = a[8];
    while (!__hip_atomic_compare_exchange_strong(&a[8], &expected, expected * 3 + 1, __ATOMIC_RELAXED, AGENT)) {
    }
    u64 expected_long = b[8];
    while (
        !__hip_atomic_compare_exchange_strong(&b[8], &expected_long, expected_long * 3 + 1, __ATOMIC_RELAXED, AGENT)) {
    }
    __hip_atomic_fetch_add(&f, 0.5f, AGENT);
    barrier();
    if (l < 10) {
        out32[l] = a[l];
        out64[l] = b[l];
    }
    if (l == 0) *out_float = f;
}
