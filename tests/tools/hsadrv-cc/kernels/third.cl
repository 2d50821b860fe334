// LDS sized at launch, and a required work-group size.
#include <shared/device/opencl.h>

__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void reverse_dynamic(__global int* data, __local int* tile) {
    const uint i = get_local_id(0);
    tile[i] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[i] = tile[63 - i];
}
