// The initial contents of a wave's memory and registers.

#include "ids.h"

// Registers that the ABI does not define: a VGPR, an SGPR, M0.
__kernel void registers(__global uint* out) {
    uint v, s, m;
    __asm__ volatile("v_mov_b32 %0, v40" : "=v"(v) : : "v40");
    __asm__ volatile("s_mov_b32 %0, s60" : "=s"(s) : : "s60");
    __asm__ volatile("s_mov_b32 %0, m0" : "=s"(m));
    out[3 * global_x()] = v;
    out[3 * global_x() + 1] = s;
    out[3 * global_x() + 2] = m;
}

// LDS of the packet, from its first byte.
__kernel void lds(__global uint* out) {
    uint word;
    const uint address = 4 * __builtin_amdgcn_workitem_id_x();
    __asm__ volatile("ds_read_b32 %0, %1\n\ts_waitcnt lgkmcnt(0)" : "=v"(word) : "v"(address));
    out[global_x()] = word;
}

// A stack variable.
__kernel void scratch(__global uint* out) {
    volatile uint words[16];
    uint sum = 0;
    for (uint i = 0; i < 16; ++i) sum ^= words[i] + i;
    out[global_x()] = sum;
}

// The work-item's ids in three dimensions, which the ABI defines.
__kernel void ids(__global uint* out) {
    out[3 * global_x()] = __builtin_amdgcn_workitem_id_x();
    out[3 * global_x() + 1] = __builtin_amdgcn_workitem_id_y();
    out[3 * global_x() + 2] = __builtin_amdgcn_workitem_id_z();
}
