// Kernels for the tests of streams: order-dependent, long-running and failing.

#include "tests/kernels/compute_unit.h"

static uint global_x(void) {
    return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

// The result shows the order, because multiplying and adding do not commute.
__kernel void scale_add(__global uint* data, uint factor, uint summand, uint n) {
    const uint i = global_x();
    if (i < n) data[i] = data[i] * factor + summand;
}

// Runs until the host (or a debugger) changes the word.
__kernel void spin(const __global uint* flag) {
    const __global atomic_uint* word = (const __global atomic_uint*)flag;
    while (__opencl_atomic_load(word, memory_order_relaxed, memory_scope_all_svm_devices) == 0)
        __builtin_amdgcn_s_sleep(10);
}

// The same, and first writes that it has begun.
__kernel void begin_and_spin(__global uint* begun, const __global uint* flag) {
    __opencl_atomic_store((__global atomic_uint*)begun, 1, memory_order_relaxed, memory_scope_all_svm_devices);
    spin(flag);
}

// Writes to the given address.
__kernel void store_at(ulong address, uint value) { *(__global uint*)address = value; }

// Works for the given time, then takes a ticket: out[work-group] = its position in the order of completion.
__kernel void work_then_ticket(__global uint* tickets, __global uint* out, uint rounds) {
    uint x = global_x();
    for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
    if (__builtin_amdgcn_workitem_id_x() != 0) return;
    __global atomic_uint* next = (__global atomic_uint*)tickets;
    out[__builtin_amdgcn_workgroup_id_x()] =
        (x == 12345u) + __opencl_atomic_fetch_add(next, 1, memory_order_relaxed, memory_scope_all_svm_devices);
}

// out[work-group] = its compute_unit().
__kernel void place(__global uint* out) {
    const uint unit = compute_unit();
    if (__builtin_amdgcn_workitem_id_x() == 0) out[__builtin_amdgcn_workgroup_id_x()] = unit;
}
