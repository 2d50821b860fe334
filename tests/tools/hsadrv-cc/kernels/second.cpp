// A function for first.cpp, and a kernel with static LDS of 256 integers.
#include <shared/device/device.hpp>

#include "factor.hpp"

int scaled(int value) { return value * FACTOR; }

HSADRV_KERNEL void reverse_static(int* data) {
    const auto tile = hsadrv::shared::array<int, 256>();
    const uint32_t i = hsadrv::get_local_id(0);
    tile[i] = data[i];
    hsadrv::barrier(hsadrv::CLK_LOCAL_MEM_FENCE);
    data[i] = tile[hsadrv::get_local_size(0) - 1 - i];
}
