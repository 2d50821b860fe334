// The same barrier in OpenCL C.
#include <shared/device/opencl.h>

__kernel void diffuse(__global uint* from, __global uint* to, uint steps) {
    const uint i = get_global_id(0), count = get_global_size(0);
    for (uint step = 0; step < steps; ++step) {
        to[i] = from[(i + 1) % count] + from[(i + count - 1) % count];
        grid_barrier();
        __global uint* const next = from;
        from = to;
        to = next;
    }
}
