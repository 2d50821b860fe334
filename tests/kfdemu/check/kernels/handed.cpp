// Kernels that hand memory to each other. The lines that race, if nothing orders the kernels, are marked.
#include "../../dispatch/kernels/kernel.hpp"

KERNEL void fill(u32* out, u32 value) {
    out[local_x()] = value + local_x();  // writes
}
KERNEL void double_all(const u32* in, u32* out) {
    out[local_x()] = in[local_x()] * 2;  // reads
}
KERNEL void count(u32* total, u32 value) { __hip_atomic_fetch_add(total, value, __ATOMIC_RELAXED, kAgent); }
/// Writes when the host says so.
KERNEL void fill_later(u32* out, u32 value, const volatile u32* flag) {
    while (*flag == 0) __builtin_amdgcn_s_sleep(1);
    out[local_x()] = value;
}
/// Writes into its own arguments.
KERNEL void scribble(u32* out, u32* arguments) {
    if (local_x() == 0) arguments[1] = arguments[1];
    out[local_x()] = 7;
}
/// One wave writes 4 * 64 * rounds bytes.
KERNEL void fill_many(u32* out, u32 rounds) {
    for (u32 n = 0; n < rounds; ++n) out[n * 64 + local_x()] = n;
}
