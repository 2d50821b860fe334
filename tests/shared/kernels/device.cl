// The OpenCL C header in use, without device libraries.
#include "shared/device/opencl.h"

struct WorkItem {
    uint global_id[4], local_id[4], group_id[4], global_size[4], local_size[4], num_groups[4];
};

__kernel void work_items(__global struct WorkItem* out) {
    size_t flat = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    for (uint d = 0; d < 4; ++d) {
        out[flat].global_id[d] = get_global_id(d);
        out[flat].local_id[d] = get_local_id(d);
        out[flat].group_id[d] = get_group_id(d);
        out[flat].global_size[d] = get_global_size(d);
        out[flat].local_size[d] = get_local_size(d);
        out[flat].num_groups[d] = get_num_groups(d);
    }
}

__kernel void reverse(__global const float* in, __global float* out) {
    __local float plain[256];
    const uint i = get_local_id(0);
    plain[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = 2 * plain[255 - i] + 1;
}

/* Two LDS arrays sized at launch: the ids of the work-group, reversed twice. */
__kernel void dynamic_arrays(__global uint* out, __local uint* once, __local uint* twice) {
    const uint i = get_local_id(0), last = get_local_size(0) - 1;
    once[last - i] = get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    twice[last - i] = once[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = twice[i];
}

__kernel void atomics(__global uint* through_lds, __global int* negative) {
    __local uint group;
    if (get_local_id(0) == 0) group = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint i = get_global_id(0);
    atomic_add(&group, i);
    atomic_add(negative, -(int)i);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atomic_add(through_lds, group);
}

__kernel void work_dim(__global uint* out) {
    if (get_local_id(0) == 0) out[0] = get_work_dim();
}
