// Groups and grids of odd sizes, in one to three dimensions, and the builtins on them.
#define UNIT "launches"
#include "twin.hpp"

/// Items that the grid has of this group.
template <u32 d>
static inline u32 present() {
    return smaller(group_size<d>(), grid_size<d>() - group_id<d>() * group_size<d>());
}
template <u32 d>
static inline u32 global() {
    return group_id<d>() * group_size<d>() + local_id<d>();
}
static inline u32 flat_local() { return local_id<0>() + present<0>() * (local_id<1>() + present<1>() * local_id<2>()); }
static inline u32 flat_global() { return global<0>() + grid_size<0>() * (global<1>() + grid_size<1>() * global<2>()); }

LDS(u32, launch_lds, 1024);

static inline void describe(const u32* a, const u32* b, u32* out) {
    const u32 i = flat_global(), l = flat_local(), count = present<0>() * present<1>() * present<2>();
    u32* o = out + i * 8;
    o[0] = local_id<0>() | local_id<1>() << 10 | local_id<2>() << 20;
    o[1] = group_id<0>() | group_id<1>() << 10 | group_id<2>() << 20;
    o[2] = group_size<0>() + group_size<1>() * 1025 + group_size<2>() * 1025 * 1025;
    o[3] = grid_size<0>() * 3 + grid_size<1>() * 5 + grid_size<2>() * 7;
    const u64 odd = ballot((a[i] & 1) != 0), all = ballot(true);
    o[4] = u32(__builtin_popcountl(all)) << 16 | bits_below(all) << 8 | u32(__builtin_popcountl(odd));
    o[5] = read_first_lane(b[i]);
    launch_lds[l] = a[i];
    barrier();
    u32 sum = 0;
    for (u32 k = l % 7; k < count; k += 1 + count / 32) sum = sum * 3 + launch_lds[k];
    o[6] = sum;
    barrier();
    launch_lds[count - 1 - l] = b[i] + l;
    barrier();
    o[7] = launch_lds[l];
}

// HIP knows no groups that are smaller at the edge, and clang 14, which compiles its language, reckons with that.
KERNEL(groups_of_1, u32, u32, u32, .grid = {17, 1, 1}, .groups = {1, 1, 1}, .out = 8) { describe(a, b, out); }
KERNEL(groups_of_63, u32, u32, u32, .grid = {200, 1, 1}, .groups = {63, 1, 1}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}
KERNEL(groups_of_65, u32, u32, u32, .grid = {195, 1, 1}, .groups = {65, 1, 1}, .out = 8) { describe(a, b, out); }
KERNEL(groups_of_100, u32, u32, u32, .grid = {350, 1, 1}, .groups = {100, 1, 1}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}
KERNEL(groups_of_256, u32, u32, u32, .grid = {513, 1, 1}, .groups = {256, 1, 1}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}
KERNEL(groups_of_1024, u32, u32, u32, .grid = {1500, 1, 1}, .groups = {1024, 1, 1}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}
KERNEL(whole_groups_in_space, u32, u32, u32, .grid = {8, 9, 10}, .groups = {4, 3, 5}, .out = 8) { describe(a, b, out); }
KERNEL(groups_in_the_plane, u32, u32, u32, .grid = {50, 37, 1}, .groups = {16, 16, 1}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}
KERNEL(groups_on_end, u32, u32, u32, .grid = {3, 80, 2}, .groups = {1, 70, 1}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}
KERNEL(groups_in_space, u32, u32, u32, .grid = {9, 10, 11}, .groups = {4, 3, 5}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}
KERNEL(groups_in_depth, u32, u32, u32, .grid = {2, 3, 200}, .groups = {1, 2, 130}, .out = 8, .from_clang = 16) {
    describe(a, b, out);
}

#if defined(__AMDGCN__)
template <class T>
static inline T dispatch_field(u32 offset) {
    return *(const __attribute__((address_space(4)))
             T*)((const __attribute__((address_space(4))) char*)__builtin_amdgcn_dispatch_ptr() + offset);
}
#else
/// Of hsa_kernel_dispatch_packet_t.
template <class T>
static T dispatch_field(u32 offset) {
    if (offset == 2) return 3;
    if (offset < 10) return T(place().full_size[(offset - 4) / 2]);
    return T(place().grid[(offset - 12) / 4]);
}
#endif
KERNEL(dispatch_packet, u32, u32, u32, .grid = {30, 7, 3}, .groups = {16, 2, 2}, .out = 7) {
    u32* o = out + flat_global() * 7;
    o[0] = dispatch_field<u16>(2) & 3;
    for (u32 d = 0; d < 3; ++d) {
        o[1 + d] = dispatch_field<u16>(4 + 2 * d);
        o[4 + d] = dispatch_field<u32>(12 + 4 * d);
    }
}

#if HAS_CLANG(19)
#if defined(__AMDGCN__)
template <class T>
static inline T implicit_argument(u32 offset) {
    return *(const __attribute__((address_space(4)))
             T*)((const __attribute__((address_space(4))) char*)__builtin_amdgcn_implicitarg_ptr() + offset);
}
#else
/// AMDGPUUsage, "Code Object V5 Metadata": counts of whole groups, group sizes, what is left at the edge, dimensions.
template <class T>
static T implicit_argument(u32 offset) {
    if (offset < 12) return T(place().grid[offset / 4] / place().full_size[offset / 4]);
    if (offset < 18) return T(place().full_size[(offset - 12) / 2]);
    if (offset < 24) return T(place().grid[(offset - 18) / 2] % place().full_size[(offset - 18) / 2]);
    return offset == 64 ? 3 : 0;
}
#endif
KERNEL(implicit_arguments, u32, u32, u32, .grid = {30, 7, 3}, .groups = {16, 2, 2}, .out = 13, .from_clang = 19) {
    u32* o = out + flat_global() * 13;
    for (u32 d = 0; d < 3; ++d) {
        o[d] = implicit_argument<u32>(4 * d);
        o[3 + d] = implicit_argument<u16>(12 + 2 * d);
        o[6 + d] = implicit_argument<u16>(18 + 2 * d);
        o[9 + d] = u32(implicit_argument<u64>(40 + 8 * d));
    }
    o[12] = implicit_argument<u16>(64);
}
#endif

/// One item stays of the last group, one group has two waves of which the second is short.
KERNEL(lone_item, u32, u32, u32, .grid = {129, 1, 1}, .groups = {128, 1, 1}) {
    out[global_id()] = a[global_id()] + u32(ballot(a[global_id()] > b[global_id()]));
}

LDS(u32, tree_lds, 1024);
/// A sum over a group whose size is no power of two.
KERNEL(sum_of_1000, u32, u32, u32, .grid = {2000, 1, 1}, .groups = {1000, 1, 1}) {
    const u32 l = local_id();
    tree_lds[l] = a[global_id()];
    for (u32 count = 1000; count > 1;) {
        barrier();
        const u32 half = (count + 1) / 2;
        if (l + half < count) tree_lds[l] += tree_lds[l + half];
        count = half;
    }
    barrier();
    out[global_id()] = tree_lds[0] ^ b[global_id()];
}

#if defined(__AMDGCN__) && defined(__HIP__)
extern __attribute__((shared)) u32 sized_lds[];
#elif defined(__AMDGCN__)
extern __attribute__((address_space(3))) u32 sized_lds[];
#else
static u32 sized_lds[300];
#endif
LDS(u8, before_sized, 12);
/// LDS sized at launch follows the kernel's own.
KERNEL(sized_at_launch, u32, u32, u32, .grid = {600, 1, 1}, .groups = {300, 1, 1}, .lds_bytes = 1200) {
    const u32 l = local_id();
    if (l < 12) before_sized[l] = u8(b[l]);
    sized_lds[l] = a[global_id()];
    barrier();
    out[global_id()] = sized_lds[299 - l] * 3 + before_sized[l % 12];
}

LDS(u32, most_lds, 15 * 1024);
/// 60 KiB, and 4 more where the compiler gives every kernel the other functions' array: a group's maximum.
KERNEL(most_of_lds, u32, u32, u32, .items = 2048, .group = 1024) {
    const u32 l = local_id();
    for (u32 k = 0; k < 15; ++k) most_lds[k * 1024 + l] = a[global_id()] + k * 77;
    barrier();
    u32 sum = 0;
    for (u32 k = 0; k < 15; ++k) sum = sum * 5 + most_lds[(k * 1024 + l * 37 + b[global_id()] % 1024) % 15360];
    out[global_id()] = sum + most_lds[15359 - l];
}

#undef UNIT
