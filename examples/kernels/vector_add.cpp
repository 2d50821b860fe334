// c[i] = a[i] + b[i]: one work-item per element.
#include <shared/device/device.hpp>

HSADRV_KERNEL void vector_add(const float* a, const float* b, float* c, uint32_t n) {
    const uint32_t i = hsadrv::get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}
