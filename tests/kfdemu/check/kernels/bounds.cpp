// Kernels that access `index` elements from the start of an array: a defect or not, as the caller chooses.
#include "../../dispatch/kernels/kernel.hpp"

KERNEL void read_word(const u32* in, u32* out, i32 index) { out[local_x()] = in[(i32)local_x() + index]; }
KERNEL void read_uniform(const u32* in, u32* out, i32 index) { out[local_x()] = in[index]; }
KERNEL void read_byte(const u8* in, u32* out, i32 index) { out[local_x()] = in[(i32)local_x() + index]; }
KERNEL void read_wide(const u32* in, u32* out, i32 index) {
    typedef u32 Quad __attribute__((ext_vector_type(4), aligned(4)));
    const Quad q = *(const Quad*)(in + (i32)local_x() + index);
    out[local_x()] = q.x + q.y + q.z + q.w;
}
KERNEL void write_word(u32* in, u32* out, i32 index) {
    in[(i32)local_x() + index] = 7;
    out[local_x()] = 1;
}
KERNEL void write_half(u16* in, u32* out, i32 index) {
    in[(i32)local_x() + index] = 7;
    out[local_x()] = 1;
}
KERNEL void add_word(u32* in, u32* out, i32 index) {
    out[local_x()] = __hip_atomic_fetch_add(in + (i32)local_x() + index, 1u, __ATOMIC_RELAXED, kAgent);
}
/// Only lane 5 goes astray.
KERNEL void one_lane(const u32* in, u32* out, i32 index) { out[local_x()] = in[local_x() == 5 ? index : 0]; }
NOINLINE static u32 read_of(const u32* in, i32 index) { return in[index]; }
KERNEL void in_function(const u32* in, u32* out, i32 index) { out[local_x()] = read_of(in, (i32)local_x() + index); }

LDS volatile u32 tile[64];
KERNEL void read_lds(const u32*, u32* out, i32 index) {
    tile[local_x()] = local_x();
    barrier();
    out[local_x()] = tile[(i32)local_x() + index];
}
KERNEL void write_lds(const u32*, u32* out, i32 index) {
    tile[(i32)local_x() + index] = local_x();
    barrier();
    out[local_x()] = tile[local_x()];
}
KERNEL void read_scratch(const u32*, u32* out, i32 index) {
    volatile u32 own[16];
    for (u32 n = 0; n < 16; ++n) own[n] = n;
    out[local_x()] = own[index];
}
KERNEL void write_scratch(const u32*, u32* out, i32 index) {
    volatile u32 own[16];
    for (u32 n = 0; n < 16; ++n) own[n] = n;
    own[index] = 3;
    out[local_x()] = own[5];
}
