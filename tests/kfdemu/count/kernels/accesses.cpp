// Accesses whose transactions and bank conflicts are known.
#include "../../dispatch/kernels/kernel.hpp"

KERNEL void copy(const u32* in, u32* out) { out[global_x()] = in[global_x()]; }

/// A line for each work-item.
KERNEL void strided(const u32* in, u32* out) { out[global_x()] = in[global_x() * 16]; }

/// The first 16 work-items of 64.
KERNEL void some(u32* out) {
    if (local_x() % 64 < 16) out[global_x()] = 1;
}

/// Ten times; how often is unknown to the compiler.
KERNEL void turns(u32* out) {
    u32 n = 0;
    do {
        asm volatile("" : "+s"(n));
        ++n;
    } while (n < 10);
    out[global_x()] = n;
}

/// Through a variable in scratch.
KERNEL void spilled(const u32* in, u32* out) {
    volatile u32 here = in[global_x()];
    out[global_x()] = here;
}

/// A tile of 32 rows, each of which is so many dwords after the one before.
template <u32 Pitch>
static inline void transpose(const u32* in, u32* out, u32 LDS_POINTER* tile) {
    const u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    tile[y * Pitch + x] = in[y * 32 + x];
    barrier();
    out[y * 32 + x] = tile[x * Pitch + y];
}

LDS u32 tight[32 * 32];
KERNEL void transpose_tight(const u32* in, u32* out) { transpose<32>(in, out, tight); }

LDS u32 padded[32 * 33];
KERNEL void transpose_padded(const u32* in, u32* out) { transpose<33>(in, out, padded); }

typedef u32 u32x4 __attribute__((ext_vector_type(4)));

/// 16 bytes a work-item of a buffer that ends after the second dword of work-item 63.
KERNEL void over_the_end(u32* buffer, u32x4* out) {
#ifdef __GFX9__
    constexpr int kFlags = 0x27000;
#else
    constexpr int kFlags = 0x31016000;  // OOB_SELECT 3: it ends by bytes
#endif
    const auto resource = __builtin_amdgcn_make_buffer_rsrc(buffer, 0, 63 * 16 + 8, kFlags);
    out[local_x()] = __builtin_amdgcn_raw_buffer_load_b128(resource, local_x() * 16, 0, 0);
}
