// Every atomic on LDS and on global memory, by all work-items at once; a test checks the result.
#include <shared/device/device.hpp>

#include "atomic_rows.h"

using namespace hsadrv;

/// `given_back` records the values that atomic_add returned: 0, 1, … once each.
template <class T, class Pointer>
HSADRV_DEVICE void integers(Pointer at, T value, T* given_back) {
    const T before = atomic_add(at + atomic_row_add, T(1));
    given_back[static_cast<uint32_t>(before)] = before + 1;
    atomic_sub(at + atomic_row_sub, value);
    atomic_min(at + atomic_row_min, value);
    atomic_max(at + atomic_row_max, value);
    atomic_and(at + atomic_row_and, ~(T(1) << (static_cast<uint32_t>(value) % 23)));
    atomic_or(at + atomic_row_or, T(1) << (static_cast<uint32_t>(value) % 29));
    atomic_xor(at + atomic_row_xor, value);
    // The sums of the values stored to and taken from a slot are equal.
    atomic_add(at + atomic_row_exchange_sum, value - atomic_exchange(at + atomic_row_exchange, value));
    T found = atomic_load(at + atomic_row_compare_exchange);
    for (;;) {
        const T now = atomic_compare_exchange(at + atomic_row_compare_exchange, found, found + 3);
        if (now == found) break;
        found = now;
    }
}

/// LDS begins as `lds_slots` says; the first work-group's results follow them.
template <class T>
HSADRV_DEVICE void all_integers(T* global, T* lds_slots, T* given_back, T first) {
    auto lds = shared::array<T, atomic_rows>();
    const uint32_t i = get_local_id(0);
    if (i < atomic_rows) lds[i] = lds_slots[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint32_t n = get_global_size(0);
    integers<T>(lds.data(), first + static_cast<T>(i), given_back);
    integers<T>(global, first + static_cast<T>(get_global_id(0)), given_back + n);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0 && i < atomic_rows) lds_slots[atomic_rows + i] = lds[i];
}

#define INTEGERS(suffix, type)                                                                         \
    HSADRV_KERNEL void atomics_##suffix(type* global, type* lds_slots, type* given_back, type first) { \
        all_integers(global, lds_slots, given_back, first);                                            \
    }
INTEGERS(u32, uint32_t)
INTEGERS(i32, int32_t)
INTEGERS(u64, uint64_t)
INTEGERS(i64, int64_t)

/// Sums of small integers: exact in any order.
template <class T>
HSADRV_DEVICE void all_floats(T* sums, T* exchanged) {
    auto lds = shared::array<T, 2>();
    const uint32_t i = get_local_id(0);
    if (i < 2) lds[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const T value = static_cast<T>(i % 7) - 3;
    atomic_add(&lds[0], value);
    atomic_sub(&lds[1], value);
    atomic_add(sums, value);
    unsafe_atomic_add(sums + 1, value);
    atomic_add(sums + 2, unsafe_atomic_add(sums + 3, T(1)));  // 0 + 1 + 2 + …
    atomic_add(exchanged, value - atomic_exchange(exchanged + 1, value));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0 && i < 2) sums[4 + i] = lds[i];
}

HSADRV_KERNEL void atomics_f32(float* sums, float* exchanged) { all_floats(sums, exchanged); }
HSADRV_KERNEL void atomics_f64(double* sums, double* exchanged) { all_floats(sums, exchanged); }
