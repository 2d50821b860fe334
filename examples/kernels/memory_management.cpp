// Doubles every element of an array, whatever its strides.
#include <devicearray/nd_span.hpp>
#include <shared/device/device.hpp>

HSADRV_KERNEL void my_kernel(hsadrv::NDSpan<int64_t, 1> array) {
    const int64_t i = hsadrv::get_global_id(0);
    if (i < array.size()) array[i] *= 2;
}
