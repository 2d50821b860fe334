// LDS: static, sized at launch, barriers, atomics, and moves between lanes.
#include "kernel.hpp"

constexpr u32 kTile = 16;

KERNEL void matmul(const float* a, const float* b, float* c, u32 n) {
    LDS float tile_a[kTile][kTile];
    LDS float tile_b[kTile][kTile];
    const u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    const u32 column = __builtin_amdgcn_workgroup_id_x() * kTile + x,
              row = __builtin_amdgcn_workgroup_id_y() * kTile + y;
    float sum = 0;
    for (u32 k = 0; k < n; k += kTile) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        barrier();
        for (u32 i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
        barrier();
    }
    c[row * n + column] = sum;
}

/// Sums of the groups' pieces, by halving; `scratch` is LDS sized at launch.
KERNEL void reduce(const u32* in, u32* sums, LDS_POINTER u32* scratch) {
    const u32 l = local_x(), size = __builtin_amdgcn_workgroup_size_x();
    scratch[l] = in[global_x()];
    barrier();
    for (u32 half = size / 2; half > 0; half /= 2) {
        if (l < half) scratch[l] += scratch[l + half];
        barrier();
    }
    if (l == 0) sums[__builtin_amdgcn_workgroup_id_x()] = scratch[0];
}

KERNEL void histogram(const u8* in, u32 n, u32* bins) {
    LDS u32 local[256];
    for (u32 i = local_x(); i < 256; i += __builtin_amdgcn_workgroup_size_x()) local[i] = 0;
    barrier();
    for (u32 i = global_x(); i < n; i += __builtin_amdgcn_workgroup_size_x() * 4)
        __hip_atomic_fetch_add(&local[in[i]], 1u, __ATOMIC_RELAXED, kWorkgroup);
    barrier();
    for (u32 i = local_x(); i < 256; i += __builtin_amdgcn_workgroup_size_x())
        __hip_atomic_fetch_add(&bins[i], local[i], __ATOMIC_RELAXED, kAgent);
}

/// Every width through LDS and back.
KERNEL void lds_widths(const u8* in, u8* out) {
    typedef u32 U4 __attribute__((ext_vector_type(4)));
    typedef u32 U3 __attribute__((ext_vector_type(3)));
    LDS u8 bytes[256];
    LDS i16 halves[256];
    LDS u64 longs[256];
    LDS U4 quads[256];
    const u32 l = local_x(), r = 255 - l;
    bytes[l] = in[l];
    halves[l] = static_cast<i16>(in[l] * -3);
    longs[l] = u64{in[l]} << 33 | l;
    quads[l] = U4{in[l], l, in[l] * 5u, ~l};
    barrier();
    const U4 q = quads[r];
    U3 three;
    __builtin_memcpy(&three, &q, sizeof three);
    u64* to = reinterpret_cast<u64*>(out) + l * 6;
    to[0] = bytes[r];
    to[1] = static_cast<u64>(i64{halves[r]});
    to[2] = longs[r] + longs[l];
    to[3] = u64{q.x} << 32 | q.y;
    to[4] = u64{q.z} << 32 | q.w;
    to[5] = u64{three.x} + three.y + three.z;
}

/// Neighbouring and far elements at once: ds_read2, ds_read2st64 and their writes.
KERNEL void lds_pairs(const u32* in, u32* out) {
    LDS u32 words[64 * 4];
    LDS u64 longs[64 * 4];
    const u32 l = local_x();
    words[l] = in[l];
    words[l + 64] = in[l + 64];
    words[l + 128] = in[l + 128];
    words[l + 192] = in[l + 192];
    longs[l] = in[l] * 3ul;
    longs[l + 64] = in[l + 64] * 5ul;
    longs[l + 128] = in[l + 128] * 7ul;
    longs[l + 192] = in[l + 192] * 9ul;
    barrier();
    const u32 k = (l * 7) & 63;
    out[l] = words[k] + 2 * words[k + 64] + 3 * words[k + 128] + 5 * words[k + 192];
    out[l + 64] = static_cast<u32>(longs[k] + 2 * longs[k + 64] + 3 * longs[k + 128] + 5 * longs[k + 192]);
    out[l + 128] = words[4 * l] + 3 * words[4 * l + 1] + 5 * words[4 * l + 2] + 7 * words[4 * l + 3];
}

KERNEL void between_lanes(const u32* in, u32* out) {
    const u32 l = local_x();
    const i32 v = static_cast<i32>(in[l]);
    out[l] = static_cast<u32>(__builtin_amdgcn_ds_bpermute(static_cast<i32>((l * 5 + 3) * 4), v));
    out[64 + l] = static_cast<u32>(__builtin_amdgcn_ds_permute(static_cast<i32>((63 - l) * 4), v));
    out[128 + l] = static_cast<u32>(__builtin_amdgcn_ds_swizzle(v, 0x041f));  // xor 1
    out[192 + l] = static_cast<u32>(__builtin_amdgcn_ds_swizzle(v, 0x801b));  // quad 3, 2, 1, 0
    out[256 + l] = static_cast<u32>(__builtin_amdgcn_readfirstlane(v));
    out[320 + l] = static_cast<u32>(__builtin_amdgcn_update_dpp(v, v, 0x111, 0xf, 0xf, false));  // row_shr:1
    out[384 + l] = static_cast<u32>(__builtin_amdgcn_mov_dpp(v, 0x140, 0xf, 0xf, true));         // row_mirror
    if (l & 1) out[448 + l] = static_cast<u32>(__builtin_amdgcn_ds_bpermute(static_cast<i32>((l - 1) * 4), v));
    out[512 + l] = static_cast<u32>(__builtin_amdgcn_ds_swizzle(v, 0xc060));  // rotate by 3
}

KERNEL void append_and_consume(u32* out) {
    LDS u32 counter;
    counter = 100;
    barrier();
    const u32 l = local_x();
    if (l % 3 == 0) out[l] = static_cast<u32>(__builtin_amdgcn_ds_append(reinterpret_cast<LDS_POINTER i32*>(&counter)));
    barrier();
    if (l % 4 == 0)
        out[l] = static_cast<u32>(__builtin_amdgcn_ds_consume(reinterpret_cast<LDS_POINTER i32*>(&counter)));
    barrier();
    if (l == 0) out[64] = counter;
}

/// Reads and writes past the end of the work-group's LDS.
/// What LDS at that address keeps of a 7.
KERNEL void kept(u32* out, volatile LDS_POINTER u32* at) {
    *at = 7;
    *out = *at;
}

KERNEL void outside_lds(u32* out) {
    LDS u32 small[64];
    const u32 l = local_x();
    small[l] = l;
    LDS_POINTER u32* far = small + 1'000'000 + l;
    *static_cast<volatile LDS_POINTER u32*>(far) = 7;
    barrier();
    out[l] = small[l] + *static_cast<volatile LDS_POINTER u32*>(far);
}
