// Kernels whose results show the order and the compute unit of their work.

#include "ids.h"
#include "tests/kernels/compute_unit.h"

static uint next_ticket(__global uint* tickets) {
    __global atomic_uint* next = (__global atomic_uint*)tickets;
    return __opencl_atomic_fetch_add(next, 1, memory_order_relaxed, memory_scope_all_svm_devices);
}

// out[work-group] = when it came.
__kernel void group_tickets(__global uint* tickets, __global uint* out) {
    if (__builtin_amdgcn_workitem_id_x() == 0) out[__builtin_amdgcn_workgroup_id_x()] = next_ticket(tickets);
}

// out[wave] = its position in the order; each wave takes four tickets, and the last counts.
__kernel void wave_tickets(__global uint* tickets, __global uint* out) {
    if (__builtin_amdgcn_workitem_id_x() % 64 != 0) return;
    for (int i = 0; i < 4; ++i) out[global_x() / 64] = next_ticket(tickets);
}

// Works for the given time, then takes a ticket.
__kernel void work_then_ticket(__global uint* tickets, __global uint* out, uint rounds) {
    uint x = global_x();
    for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
    if (__builtin_amdgcn_workitem_id_x() != 0) return;
    out[__builtin_amdgcn_workgroup_id_x()] = next_ticket(tickets) + (x == 12345u);
}

// From work-group `first` on, each waits for the one before it, then works.
__kernel void chain(__global uint* done, uint first, uint rounds) {
    const uint group = __builtin_amdgcn_workgroup_id_x();
    if (__builtin_amdgcn_workitem_id_x() != 0 || group < first) return;
    __global atomic_uint* flags = (__global atomic_uint*)done;
    while (group != first &&
           __opencl_atomic_load(flags + group - 1, memory_order_relaxed, memory_scope_all_svm_devices) == 0)
        __builtin_amdgcn_s_sleep(1);
    uint x = group;
    for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
    __opencl_atomic_store(flags + group, 1 + (x == 12345u), memory_order_relaxed, memory_scope_all_svm_devices);
}

// out[work-group] = its compute_unit().
__kernel void place(__global uint* out) {
    const uint unit = compute_unit();
    if (__builtin_amdgcn_workitem_id_x() == 0) out[__builtin_amdgcn_workgroup_id_x()] = unit;
}

// A private array that cannot live in registers.
__kernel void with_scratch(__global uint* out, uint n) {
    volatile uint own[64];
    for (uint i = 0; i < 64; ++i) own[(i * n) % 64] = i;
    out[global_x()] = own[n % 64];
}
