// Adds the histogram of n bytes to bins[256]. Each work-group counts in LDS, where conflicts are cheap, and adds its
// counts to global memory once. Several of these kernels may add to the same bins at the same time.
#include "shared/device/opencl.h"

__kernel void histogram(__global const uchar* data, uint n, __global uint* bins) {
    __local uint counts[256];
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&counts[data[i]], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&bins[i], counts[i]);
}
