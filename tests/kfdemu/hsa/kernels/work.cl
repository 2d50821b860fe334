// Work of every kind that the tests of the device need done.

#include "ids.h"

// p[i] = value + i for the first n.
__kernel void fill(__global uint* p, uint value, uint n) {
    const uint i = global_x();
    if (i < n) p[i] = value + i;
}

// out[i] = in[i] + 1 for the first n.
__kernel void increment(__global uint* out, const __global uint* in, uint n) {
    const uint i = global_x();
    if (i < n) out[i] = in[i] + 1;
}

// Every work-item adds one.
__kernel void count(__global uint* total) {
    __opencl_atomic_fetch_add((__global atomic_uint*)total, 1, memory_order_relaxed, memory_scope_all_svm_devices);
}

// Order shows, because multiplying and adding do not commute.
__kernel void scale_add(__global uint* word, uint factor, uint summand) {
    if (global_x() == 0) *word = *word * factor + summand;
}

// Runs until the word changes; then writes to another.
__kernel void spin(const __global uint* flag, __global uint* ended) {
    const __global atomic_uint* word = (const __global atomic_uint*)flag;
    while (__opencl_atomic_load(word, memory_order_relaxed, memory_scope_all_svm_devices) == 0)
        __builtin_amdgcn_s_sleep(10);
    *ended = 1;
}

// Sets a signal to 0 and raises its interrupt as ROCm's device library does: with the lowest 8 bits of its event's id.
__kernel void complete(__global ulong* value, __global ulong* mailbox, uint event) {
    __opencl_atomic_store((__global atomic_ulong*)value, 0, memory_order_release, memory_scope_all_svm_devices);
    __opencl_atomic_store((__global atomic_ulong*)mailbox, event, memory_order_release, memory_scope_all_svm_devices);
    __builtin_amdgcn_s_sendmsg(1, event & 0xff);
}

// Runs endlessly.
__kernel void endless(__global uint* started) {
    *started = 1;
    while (true) __builtin_amdgcn_s_sleep(10);
}

__kernel void nothing(void) {}
