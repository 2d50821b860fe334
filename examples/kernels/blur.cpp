// Gaussian blur of an interleaved picture; edge samples are repeated. A work-group loads its block and a halo of
// `blur_radius` into LDS, blurs along the rows into a second LDS array, then along the columns: 18 taps instead of 81.
#include <shared/device/device.hpp>

#include "blur_shape.hpp"

using namespace hsadrv;

HSADRV_DEVICE uint32_t clamp(int32_t i, uint32_t size) {
    return i < 0 ? 0 : static_cast<uint32_t>(i) < size ? static_cast<uint32_t>(i) : size - 1;
}

/// Grid: (width and height rounded up to blocks, channels); work-group: (16, 16, 1). `weights` sum to 1.
HSADRV_KERNEL void blur(const uint16_t* in, uint16_t* out, const float* weights, uint32_t width, uint32_t height,
                        uint32_t channels) {
    constexpr uint32_t halo = blur_block + 2 * blur_radius;
    auto tile = shared::array<float, halo, halo>();
    auto rows = shared::array<float, halo, blur_block>();
    const uint32_t x = get_local_id(0), y = get_local_id(1), channel = get_group_id(2);
    const int32_t left = static_cast<int32_t>(get_group_id(0) * blur_block) - static_cast<int32_t>(blur_radius);
    const int32_t top = static_cast<int32_t>(get_group_id(1) * blur_block) - static_cast<int32_t>(blur_radius);

    for (uint32_t j = y; j < halo; j += blur_block) {
        for (uint32_t i = x; i < halo; i += blur_block) {
            const uint32_t column = clamp(left + static_cast<int32_t>(i), width);
            const uint32_t row = clamp(top + static_cast<int32_t>(j), height);
            tile(j, i) = in[(row * width + column) * channels + channel];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint32_t j = y; j < halo; j += blur_block) {
        float sum = 0;
        for (uint32_t k = 0; k < blur_taps; ++k) sum += weights[k] * tile(j, x + k);
        rows(j, x) = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (uint32_t k = 0; k < blur_taps; ++k) sum += weights[k] * rows(y + k, x);

    const uint32_t column = get_group_id(0) * blur_block + x, row = get_group_id(1) * blur_block + y;
    if (column >= width || row >= height) return;
    out[(row * width + column) * channels + channel] = static_cast<uint16_t>(sum + 0.5f);
}
