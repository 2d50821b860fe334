// Calls a function of second.cpp, so the two must be linked.
#include <shared/device/device.hpp>

int scaled(int value);

HSADRV_KERNEL void scale(int* data, uint32_t size) {
    const uint32_t i = hsadrv::get_global_id(0);
    if (i < size) data[i] = scaled(data[i]);
}
