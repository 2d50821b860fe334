// Communication between lanes: wave.cpp's kernels in OpenCL C.
#include "shared/device/opencl.h"

#include "wave_rows.h"

#define ORDERED(type)                                            \
    const uint i = get_global_id(0), n = get_global_size(0);     \
    if ((active >> get_lane_id() & 1) == 0) return;              \
    const type x = in[i];                                        \
    out[row_reduce_add * n + i] = wave_reduce_add(x);            \
    out[row_reduce_min * n + i] = wave_reduce_min(x);            \
    out[row_reduce_max * n + i] = wave_reduce_max(x);            \
    out[row_inclusive_add * n + i] = wave_inclusive_scan_add(x); \
    out[row_inclusive_min * n + i] = wave_inclusive_scan_min(x); \
    out[row_inclusive_max * n + i] = wave_inclusive_scan_max(x); \
    out[row_exclusive_add * n + i] = wave_exclusive_scan_add(x); \
    out[row_exclusive_min * n + i] = wave_exclusive_scan_min(x); \
    out[row_exclusive_max * n + i] = wave_exclusive_scan_max(x);
#define INTEGERS(type)                                \
    ORDERED(type)                                     \
    out[row_reduce_and * n + i] = wave_reduce_and(x); \
    out[row_reduce_or * n + i] = wave_reduce_or(x);   \
    out[row_reduce_xor * n + i] = wave_reduce_xor(x);

__kernel void reductions_i32(__global const int* in, __global int* out, ulong active){INTEGERS(int)} __kernel
    void reductions_u64(__global const ulong* in, __global ulong* out, ulong active){INTEGERS(ulong)} __kernel
    void reductions_f32(__global const float* in, __global float* out, ulong active){ORDERED(float)} __kernel
    void reductions_f64(__global const double* in, __global double* out, ulong active){ORDERED(double)}

__kernel void lanes(__global const uint* in, __global ulong* out, ulong active) {
    const uint i = get_global_id(0), n = get_global_size(0);
    if ((active >> get_lane_id() & 1) == 0) return;
    const uint x = in[i];
    const ulong twice = (ulong)x << 32 | x;
    out[row_lane_id * n + i] = get_lane_id();
    out[row_ballot * n + i] = wave_ballot(x % 3 == 0);
    out[row_active * n + i] = wave_active_lanes();
    out[row_any * n + i] = wave_any(x % 3 == 0);
    out[row_all * n + i] = wave_all(x % 3 == 0);
    out[row_first * n + i] = read_first_lane(twice);
    for (uint lane = 0; lane < HSADRV_WAVEFRONT_SIZE; ++lane) {
        out[(row_broadcasts + lane) * n + i] = (active >> lane & 1) != 0 ? read_lane(twice, lane) : 0;
    }
}

#define PERMUTES                                                                              \
    const uint i = get_local_id(0);                                                           \
    for (uint shift = 0; shift < HSADRV_WAVEFRONT_SIZE; ++shift) {                            \
        const uint rows = shift * permute_rows * HSADRV_WAVEFRONT_SIZE;                       \
        out[rows + row_permute * HSADRV_WAVEFRONT_SIZE + i] = ds_permute(i + shift, in[i]);   \
        out[rows + row_bpermute * HSADRV_WAVEFRONT_SIZE + i] = ds_bpermute(i + shift, in[i]); \
        out[rows + row_activelanepermute * HSADRV_WAVEFRONT_SIZE + i] =                       \
            activelanepermute_wavewidth(in[i], i + shift, identity, i % 3 == 0);              \
    }

__kernel void permutes_u32(__global const uint* in, __global uint* out, uint identity){PERMUTES} __kernel
    void permutes_f64(__global const double* in, __global double* out, double identity){PERMUTES}

__kernel void pass_on(__global const uint* in, __global uint* out) {
    __local uint slots[256];
    const uint i = get_local_id(0), wave = i / HSADRV_WAVEFRONT_SIZE * HSADRV_WAVEFRONT_SIZE;
    slots[i] = in[get_global_id(0)];
    wavebarrier();
    for (uint step = 0; step < 5; ++step) {
        const uint from_next = slots[wave + (i + 1) % HSADRV_WAVEFRONT_SIZE];
        wavebarrier();
        slots[i] = from_next;
        wavebarrier();
    }
    out[get_global_id(0)] = slots[i];
}
