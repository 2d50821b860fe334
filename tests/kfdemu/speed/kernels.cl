// The benchmark kernels of PoCL and kfdemu: one source. Every float operation is written so that it rounds once, so
// that both give the same bits.
#ifdef __AMDGCN__
#include "shared/device/opencl.h"
#endif
#pragma OPENCL FP_CONTRACT OFF

#ifdef __AMDGCN__
#define FMA __builtin_fmaf
#define ROTATE_RIGHT(x, n) __builtin_rotateright32(x, n)
#else
#define FMA fma
#define ROTATE_RIGHT(x, n) rotate((uint)(x), (uint)(32 - (n)))
#endif

// Four chains of multiply-adds, in a loop of unknown length: 4 * rounds per work-item.
__kernel void loop(__global float* out, float a, float b, uint rounds) {
    const uint i = get_global_id(0);
    float w = i, x = i + 1, y = i + 2, z = i + 3;
    for (uint n = 0; n < rounds; ++n) {
        w = FMA(w, a, b);
        x = FMA(x, a, b);
        y = FMA(y, a, b);
        z = FMA(z, a, b);
    }
    out[i] = (w + x) + (y + z);
}

#define STEP w = FMA(w, a, b), x = FMA(x, a, b), y = FMA(y, a, b), z = FMA(z, a, b);
#define STEPS_8 STEP STEP STEP STEP STEP STEP STEP STEP
#define STEPS_64 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8 STEPS_8

// The same without a loop: 256 a work-item.
__kernel void straight_line(__global float* out, float a, float b) {
    const uint i = get_global_id(0);
    float w = i, x = i + 1, y = i + 2, z = i + 3;
    STEPS_64
    out[i] = (w + x) + (y + z);
}

#define TILE 16
// C = A * B of n x n, n a multiple of TILE, tile by tile through local memory.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void matmul(__global const float* a,
                                                                          __global const float* b, __global float* c,
                                                                          uint n) {
    __local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const uint column = get_local_id(0), row = get_local_id(1);
    const uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k += TILE) {
        tile_a[row][column] = a[y * n + k + column];
        tile_b[row][column] = b[(k + row) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint m = 0; m < TILE; ++m) sum = FMA(tile_a[row][m], tile_b[m][column], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

#define TABLE __constant
typedef uint u32;
typedef uchar u8;
#include "tests/kfdemu/differential/kernels/cipher_tables.hpp"

// The first word of SHA-256 (FIPS 180-4) of a block of sixteen words that a work-item makes of its number.
__kernel void sha256(__global uint* out) {
    const uint i = get_global_id(0);
    uint w[16];
    for (uint n = 0; n < 16; ++n) w[n] = i * 0x9e3779b9 + n;
    uint a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
    uint e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll
    for (uint n = 0; n < 64; ++n) {
        if (n >= 16) {
            const uint early = w[(n + 1) & 15], late = w[(n + 14) & 15];
            const uint small0 = ROTATE_RIGHT(early, 7) ^ ROTATE_RIGHT(early, 18) ^ early >> 3;
            const uint small1 = ROTATE_RIGHT(late, 17) ^ ROTATE_RIGHT(late, 19) ^ late >> 10;
            w[n & 15] += small0 + w[(n + 9) & 15] + small1;
        }
        const uint big1 = ROTATE_RIGHT(e, 6) ^ ROTATE_RIGHT(e, 11) ^ ROTATE_RIGHT(e, 25);
        const uint t1 = h + big1 + ((e & f) ^ (~e & g)) + kSha256Rounds[n] + w[n & 15];
        const uint big0 = ROTATE_RIGHT(a, 2) ^ ROTATE_RIGHT(a, 13) ^ ROTATE_RIGHT(a, 22);
        const uint t2 = big0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    out[i] = 0x6a09e667 + a;
}

// The number of steps in which each point of [-2, 1] x [-1.5, 1.5] escapes, at most `most`.
__kernel void mandelbrot(__global uint* out, uint width, uint most) {
    const uint px = get_global_id(0), py = get_global_id(1);
    const float step = 3.0f / (float)width;
    const float cx = FMA((float)px, step, -2.0f), cy = FMA((float)py, step, -1.5f);
    float x = 0, y = 0;
    uint n = 0;
    while (n < most && FMA(x, x, y * y) <= 4.0f) {
        const float next = FMA(x, x, FMA(-y, y, cx));
        y = FMA(2.0f * x, y, cy);
        x = next;
        ++n;
    }
    out[py * width + px] = n;
}

__kernel void copy(__global float* out, __global const float* in) { out[get_global_id(0)] = in[get_global_id(0)]; }
