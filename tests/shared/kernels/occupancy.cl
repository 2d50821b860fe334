// Kernels made to need registers, LDS and work-groups of many sizes, one resource each and several together. The test
// compiles them, and compares the compiler's remarks with shared/occupancy.hpp's figures for the metadata.
//
// Assembly that overwrites register N makes a kernel need N + 1 of its kind. Work-groups are of exactly one size, so
// that every compiler assumes the same one; in `range_…` it is a range, of which LLVM 20 and newer take what is best.
// OpenCL C, because clang lets no kernel of plain C++ say its work-group's size.

#define SIZED(least, most) __attribute__((amdgpu_flat_work_group_size(least, most)))
#define KERNEL(name, group, ...)                                \
    __kernel SIZED(group, group) void name(__global int* out) { \
        out[0] = 1;                                             \
        __asm__ volatile("" ::: __VA_ARGS__);                   \
    }
#define LDS_KERNEL(name, group, bytes, ...) LDS_RANGE(name, group, group, bytes, __VA_ARGS__)
#define LDS_RANGE(name, least, most, bytes, ...)               \
    __kernel SIZED(least, most) void name(__global int* out) { \
        __local volatile char lds[bytes];                      \
        lds[__builtin_amdgcn_workitem_id_x() % bytes] = 1;     \
        out[0] = lds[0];                                       \
        __asm__ volatile("" ::: __VA_ARGS__);                  \
    }

KERNEL(vgprs_4, 256, "v3")
KERNEL(vgprs_8, 256, "v7")
KERNEL(vgprs_24, 256, "v23")
KERNEL(vgprs_25, 256, "v24")
KERNEL(vgprs_28, 256, "v27")
KERNEL(vgprs_29, 256, "v28")
KERNEL(vgprs_32, 256, "v31")
KERNEL(vgprs_33, 256, "v32")
KERNEL(vgprs_36, 256, "v35")
KERNEL(vgprs_37, 256, "v36")
KERNEL(vgprs_40, 256, "v39")
KERNEL(vgprs_41, 256, "v40")
KERNEL(vgprs_48, 256, "v47")
KERNEL(vgprs_49, 256, "v48")
KERNEL(vgprs_64, 256, "v63")
KERNEL(vgprs_65, 256, "v64")
KERNEL(vgprs_72, 256, "v71")
KERNEL(vgprs_84, 256, "v83")
KERNEL(vgprs_85, 256, "v84")
KERNEL(vgprs_96, 256, "v95")
KERNEL(vgprs_97, 256, "v96")
KERNEL(vgprs_128, 256, "v127")
KERNEL(vgprs_129, 256, "v128")
KERNEL(vgprs_168, 256, "v167")
KERNEL(vgprs_169, 256, "v168")
KERNEL(vgprs_256, 256, "v255")

KERNEL(sgprs_60, 256, "s59")
KERNEL(sgprs_75, 256, "s74")
KERNEL(sgprs_79, 256, "s78")
KERNEL(sgprs_80, 256, "s79")
KERNEL(sgprs_81, 256, "s80")
KERNEL(sgprs_83, 256, "s82")
KERNEL(sgprs_88, 256, "s87")
KERNEL(sgprs_89, 256, "s88")
KERNEL(sgprs_91, 256, "s90")
KERNEL(sgprs_95, 256, "s94")
KERNEL(sgprs_96, 256, "s95")
KERNEL(sgprs_97, 256, "s96")
KERNEL(sgprs_101, 256, "s100")
KERNEL(sgprs_102, 256, "s101")
KERNEL(sgprs_102_and_vcc, 256, "s101", "vcc")

KERNEL(group_64, 64, "v7")
KERNEL(group_128, 128, "v7")
KERNEL(group_192, 192, "v7")
KERNEL(group_320, 320, "v7")
KERNEL(group_512, 512, "v7")
KERNEL(group_768, 768, "v7")
KERNEL(group_1024, 1024, "v7")
KERNEL(group_100, 100, "v7")
KERNEL(group_1, 1, "v7")

LDS_KERNEL(lds_1, 256, 1, "v7")
LDS_KERNEL(lds_512, 64, 512, "v7")
LDS_KERNEL(lds_1640, 64, 1640, "v7")
LDS_KERNEL(lds_4096, 64, 4096, "v7")
LDS_KERNEL(lds_4600, 128, 4600, "v7")
LDS_KERNEL(lds_6553, 256, 6553, "v7")
LDS_KERNEL(lds_8192, 256, 8192, "v7")
LDS_KERNEL(lds_8200, 256, 8200, "v7")
LDS_KERNEL(lds_10922, 256, 10922, "v7")
LDS_KERNEL(lds_16384, 512, 16384, "v7")
LDS_KERNEL(lds_16384_by_1024, 1024, 16384, "v7")
LDS_KERNEL(lds_20480, 320, 20480, "v7")
LDS_KERNEL(lds_21845, 256, 21845, "v7")
LDS_KERNEL(lds_32768, 64, 32768, "v7")
LDS_KERNEL(lds_32769, 1024, 32769, "v7")
LDS_KERNEL(lds_65536, 1024, 65536, "v7")
LDS_KERNEL(lds_65536_by_64, 64, 65536, "v7")

LDS_KERNEL(all_three, 512, 20480, "v99", "s90")
KERNEL(wide_and_large, 1024, "v83")  // no compute unit of GCN holds one such work-group
KERNEL(wide_and_uneven, 320, "v47")
LDS_KERNEL(little_of_all, 256, 9000, "v31", "s60")

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
KERNEL(agprs_4, 256, "v7", "a3")
KERNEL(agprs_60, 256, "v39", "a59")
KERNEL(agprs_61_of_103, 256, "v41", "a60")
KERNEL(agprs_10, 256, "v126", "a9")
KERNEL(agprs_33, 64, "v6", "a32")
KERNEL(agprs_128, 256, "v3", "a127")
KERNEL(agprs_129, 256, "v127", "a128")
KERNEL(agprs_200, 256, "v100", "a199")
KERNEL(agprs_256, 256, "v255", "a255")
LDS_KERNEL(agprs_and_lds, 128, 12288, "v61", "a61")

typedef float Vector32 __attribute__((ext_vector_type(32)));

__kernel SIZED(64, 64) void multiply_matrices(__global const float* a, __global const float* b, __global Vector32* out,
                                              uint n) {
    Vector32 sum = 0;
    for (uint i = 0; i < n; ++i) sum = __builtin_amdgcn_mfma_f32_32x32x1f32(a[i], b[i], sum, 0, 0, 0);
    out[__builtin_amdgcn_workitem_id_x()] = sum;
}
#endif

// Compiled code.

__kernel SIZED(256, 256) void tile(__global const float* a, __global const float* b, __global float* out, uint n) {
    const uint row = __builtin_amdgcn_workitem_id_x() * 8, column = __builtin_amdgcn_workgroup_id_x() * 8;
    float sum[8][8] = {{0}};
    for (uint k = 0; k < n; ++k) {
        for (uint i = 0; i < 8; ++i) {
            for (uint j = 0; j < 8; ++j) sum[i][j] += a[(row + i) * n + k] * b[k * n + column + j];
        }
    }
    for (uint i = 0; i < 8; ++i) {
        for (uint j = 0; j < 8; ++j) out[(row + i) * n + column + j] = sum[i][j];
    }
}

__kernel SIZED(256, 256) void stack(__global int* out, __global const uint* where) {
    volatile int on_stack[100];
    for (uint i = 0; i < 100; ++i) on_stack[i] = (int)i;
    out[0] = on_stack[where[__builtin_amdgcn_workitem_id_x()] % 100];
}

__attribute__((noinline)) static int far_away(int x) {
    __asm__ volatile("" ::: "v60", "s50");
    return x * 3;
}

__kernel SIZED(256, 256) void calls(__global int* out) { out[0] = far_away(out[1]); }

__kernel SIZED(256, 256) __attribute__((amdgpu_waves_per_eu(1, 2))) void at_most_2_waves(__global int* out) {
    out[0] = 1;
}
__kernel SIZED(256, 256) __attribute__((amdgpu_waves_per_eu(5, 5))) void exactly_5_waves(__global int* out) {
    out[0] = 1;
}
__kernel SIZED(64, 64) __attribute__((amdgpu_waves_per_eu(4))) void at_least_4_waves(__global int* out) { out[0] = 1; }

__kernel SIZED(1, 1024) void range_of_all(__global int* out) { out[0] = 1; }
__kernel void range_by_default(__global int* out) { out[0] = 1; }
LDS_RANGE(range_to_256, 1, 256, 9000, "v7")
LDS_RANGE(range_to_512, 64, 512, 20000, "v7")
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void required(__global int* out) { out[0] = 1; }
