// Kernels that go wrong, each in its own way.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

// Writes to the given address.
__kernel void store_at(ulong address, uint value) { *(volatile __global uint*)address = value; }

// Reads from the given address.
__kernel void load_at(ulong address, __global uint* out) { *out = *(volatile __global uint*)address; }

__kernel void atomic_at(ulong address) {
    __opencl_atomic_fetch_add((volatile __global atomic_uint*)address, 1, memory_order_relaxed, memory_scope_device);
}

// An opcode of the SOPP format that no GPU of this family has.
__kernel void illegal(void) { __asm__ volatile(".long 0xbfff0000"); }

// The code of llvm.trap.
__kernel void trap(void) { __asm__ volatile("s_trap 2"); }

// Jumps to where there may be no code. clang 22 also makes a function of a kernel, whose arguments are in VGPRs.
__kernel void jump_to(ulong address) {
    const ulong high = __builtin_amdgcn_readfirstlane((uint)(address >> 32));
    const ulong low = (uint)__builtin_amdgcn_readfirstlane((uint)address);
    __asm__ volatile("s_setpc_b64 %0" : : "s"(high << 32 | low));
}

// Correct itself; its packet may be invalid.
__kernel void well(void) {}
