// Natural logarithms of positive numbers, printed by the kernel itself.
#include <shared/device/device.hpp>
#include <shared/device/math.hpp>
#include <shared/device/services.hpp>

HSADRV_KERNEL void logarithms(const double* x, double* y) {
    const uint32_t i = hsadrv::get_global_id(0);
    HSADRV_ASSERT(x[i] > 0);
    y[i] = hsadrv::log(x[i]);
    hsadrv::printf("work-item %u: log(%g) = %.15g\n", i, x[i], y[i]);
}
