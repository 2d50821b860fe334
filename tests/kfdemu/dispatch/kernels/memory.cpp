// Loads and stores of every width, ids, and partial work-groups.
#include "kernel.hpp"

KERNEL void vector_add(const float* a, const float* b, float* c, u32 n) {
    const u32 i = global_x();
    if (i < n) c[i] = a[i] + b[i];
}

KERNEL void gather(const u32* from, const u32* index, u32* to, u32 n) {
    const u32 i = global_x();
    if (i < n) to[index[i]] = from[n - 1 - index[i]] + i;
}

struct Particle {
    float position[3];
    u32 id;
    double mass;
    u8 flags[5];
};

KERNEL void copy_structs(const Particle* from, Particle* to, u32 n) {
    const u32 i = global_x();
    if (i < n) {
        to[i] = from[n - 1 - i];
        to[i].position[1] += 1.0f;
    }
}

KERNEL void widths(const i8* a, const u8* b, const i16* c, const u16* d, const i64* e, i64* sums, u8* bytes,
                   u16* halves) {
    const u32 i = global_x();
    sums[i] = i64{a[i]} + b[i] * 3 + c[i] * 5 + d[i] * 7 + e[i] * 11;
    bytes[i] = static_cast<u8>(a[i] ^ b[i]);
    halves[i] = static_cast<u16>(c[i] - d[i]);
}

KERNEL void halves_into_registers(const u16* a, const u16* b, u32* packed) {
    const u32 i = global_x();
    typedef u16 Pair __attribute__((ext_vector_type(2)));
    Pair p;
    p.x = a[i];
    p.y = b[i];
    p = p + p;
    packed[i] = __builtin_bit_cast(u32, p);
}

typedef float Float4 __attribute__((ext_vector_type(4)));
typedef double Double2 __attribute__((ext_vector_type(2)));

KERNEL void wide(const Float4* a, Float4* b, const Double2* c, Double2* d, u32 shift) {
    const u32 i = global_x();
    b[i ^ shift] = a[i] * 2.0f;
    d[i ^ shift] = c[i] + 1.0;
}

/// Not aligned to its size.
KERNEL void misaligned(const u8* from, u8* to) {
    const u32 i = global_x();
    u32 word;
    u64 longer;
    __builtin_memcpy(&word, from + i * 13 + 1, 4);
    __builtin_memcpy(&longer, from + i * 13 + 5, 8);
    word += 1;
    longer += 2;
    __builtin_memcpy(to + i * 13 + 1, &word, 4);
    __builtin_memcpy(to + i * 13 + 5, &longer, 8);
}

struct Ids {
    u32 local[3], group[3], lane, groups_size[3];
};

/// Each work-item of a grid writes its ids, at its index in the grid.
KERNEL void ids(Ids* out, u32 size_x, u32 size_y) {
    const u32 x =
        __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
    const u32 y =
        __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
    const u32 z =
        __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
    Ids& to = out[(z * size_y + y) * size_x + x];
    to.local[0] = __builtin_amdgcn_workitem_id_x();
    to.local[1] = __builtin_amdgcn_workitem_id_y();
    to.local[2] = __builtin_amdgcn_workitem_id_z();
    to.group[0] = __builtin_amdgcn_workgroup_id_x();
    to.group[1] = __builtin_amdgcn_workgroup_id_y();
    to.group[2] = __builtin_amdgcn_workgroup_id_z();
    to.lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    to.groups_size[0] = __builtin_amdgcn_workgroup_size_x();
    to.groups_size[1] = __builtin_amdgcn_workgroup_size_y();
    to.groups_size[2] = __builtin_amdgcn_workgroup_size_z();
}

u64 dispatch_id() __asm("llvm.amdgcn.dispatch.id");

/// The packet processor's register values.
KERNEL void special_registers(u64* out) {
    if (global_x() != 0) return;
    out[0] = reinterpret_cast<u64>(__builtin_amdgcn_dispatch_ptr());
    out[1] = dispatch_id();
    out[2] = reinterpret_cast<u64>(__builtin_amdgcn_kernarg_segment_ptr());
    const u64 before = __builtin_readcyclecounter();
    out[3] = __builtin_readcyclecounter() - before;
}
