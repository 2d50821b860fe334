// Kernels with the names of hsadrv bench's that do not do what those do.

// One too much.
__kernel void bench_launch(__global uint* out, ulong a, ulong b, ulong c, ulong d, ulong e, ulong f) {
    if (__builtin_amdgcn_workitem_id_x() == 0) out[0] = (uint)(a + b + c + d + e + f) + 1;
}

// Never ends.
__kernel void bench_fma_f32(__global float* out, float m, float c) {
    while (*(volatile __global float*)out != m + c + 12345.0f) {
    }
}

// Reads nothing.
__kernel void bench_lds_read(__global uint* out, uint stride) {
    out[__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x()] =
        stride;
}
