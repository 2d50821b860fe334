// Kernels that fail, each in a different way, and one that succeeds.

__kernel void store_at(ulong address, uint value) { *(volatile __global uint*)address = value; }
__kernel void load_at(ulong address, __global uint* out) { *out = *(volatile __global uint*)address; }

// An opcode of the SOPP format that no GPU of this family has.
__kernel void illegal(void) { __asm__ volatile(".long 0xbfff0000"); }
// The code of llvm.trap.
__kernel void trap(void) { __asm__ volatile("s_trap 2"); }

// Runs until the host changes the word.
__kernel void endless(const __global uint* flag) {
    const __global atomic_uint* word = (const __global atomic_uint*)flag;
    while (__opencl_atomic_load(word, memory_order_relaxed, memory_scope_all_svm_devices) == 0)
        __builtin_amdgcn_s_sleep(10);
}

// Needs scratch memory: 16 KiB per work-item.
__kernel void scratch(__global uint* out, uint seed) {
    volatile uint words[4096];
    for (uint i = 0; i < 4096; ++i) words[i] = seed + i;
    uint sum = 0;
    for (uint i = 4096; i-- > 0;) sum += words[i];
    out[__builtin_amdgcn_workitem_id_x()] = sum;
}

// The n-th of a sequence: the result shows the order, because multiplying and adding do not commute.
__kernel void append(__global uint* value, uint digit) { *value = *value * 3 + digit; }
