// Access patterns whose bank conflicts or instructions are published for hardware; published.cpp has the figures.
#include "../../dispatch/kernels/kernel.hpp"

typedef u32 u32x4 __attribute__((ext_vector_type(4)));

/// Each work-item loads from bank 0.
LDS u32 columns[32 * 64];
KERNEL void same_bank(u32* out) {
    const volatile u32 LDS_POINTER* from = columns;
    out[local_x()] = from[local_x() * 32];
}

/// A wave writes 16 rows of 64 bytes, and loads them as an MFMA's operand: a lane has 16 bytes of row `lane % 16`.
template <u32 PitchBytes>
static inline void operand(u32x4* out, u32 LDS_POINTER* tile) {
    const u32 lane = local_x(), pitch = PitchBytes / 16;
    volatile u32x4 LDS_POINTER* at = (u32x4 LDS_POINTER*)tile;
    at[lane / 4 * pitch + lane % 4] = lane;
    barrier();
    out[lane] = at[lane % 16 * pitch + lane / 16];
}

LDS __attribute__((aligned(16))) u32 rows_of_64_bytes[16 * 64 / 4];
KERNEL void operand_tight(u32x4* out) { operand<64>(out, rows_of_64_bytes); }

LDS __attribute__((aligned(16))) u32 rows_of_80_bytes[16 * 80 / 4];
KERNEL void operand_padded(u32x4* out) { operand<80>(out, rows_of_80_bytes); }

/// A sum of two matrices, a work-item for each element.
KERNEL void vector_add(float* __restrict__ sum, const float* __restrict__ left, const float* __restrict__ right,
                       int width, int height) {
    const u32 x = global_x();
    const u32 y =
        __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
    const int n = i32(y) * width + i32(x);
    if (n < width * height) sum[n] = left[n] + right[n];
}
