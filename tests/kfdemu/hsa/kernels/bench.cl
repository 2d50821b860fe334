// Work for benchmarks.

#include "ids.h"

// A chain of multiplications and additions for each work-item, which accesses memory only at its end.
__kernel void multiply_add(__global float* out, uint rounds) {
    const uint i = global_x();
    float a = (float)i, b = 0.5f;
    for (uint n = 0; n < rounds; ++n) {
        a = a * 0.999f + b;
        b = b * 1.001f - a * 0.001f;
    }
    out[i] = a + b;
}

// One element for each work-item: time goes into memory.
__kernel void copy(__global float* out, __global const float* in) { out[global_x()] = in[global_x()]; }
