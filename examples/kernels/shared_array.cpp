// Numba's shared-memory pattern: each work-item writes one element, all wait at a barrier, each reads elements written
// by others. Here a moving average, which reads each element of global memory once instead of once for each neighbour.
#include <shared/device/device.hpp>

#include "shared_array_layout.hpp"

using namespace hsadrv;

template <class Tile>
HSADRV_DEVICE float average(const Tile& tile, uint32_t middle) {
    float sum = 0;
    for (uint32_t i = middle - radius; i <= middle + radius; ++i) sum += tile[i];
    return sum / (2 * radius + 1);
}

/// Loads a work-group's elements and `radius` neighbours on both sides; 0 beyond the ends.
template <class Tile>
HSADRV_DEVICE void fill(const Tile& tile, const float* in, uint32_t n) {
    const uint32_t first = get_group_id(0) * get_enqueued_local_size(0);
    for (uint32_t i = get_local_id(0); i < get_local_size(0) + 2 * radius; i += get_local_size(0)) {
        const uint32_t from = first + i - radius;  // wraps to a large value before the first element
        tile[i] = from < n ? in[from] : 0;
    }
}

/// Work-groups of 256, fixed at compile time.
HSADRV_KERNEL void moving_average(const float* in, float* out, uint32_t n) {
    auto tile = shared::array<float, 256 + 2 * radius>();
    fill(tile, in, n);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = average(tile, get_local_id(0) + radius);
}

/// Work-groups of any size; the launch sets the LDS size.
HSADRV_KERNEL void moving_average_sized(const float* in, float* out, uint32_t n, shared::LdsPointer lds) {
    const auto tile = shared::dynamic_array<0>(shared_array_layout(get_enqueued_local_size(0)), lds);
    fill(tile, in, n);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = average(tile, get_local_id(0) + radius);
}
