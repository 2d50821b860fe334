// c = a b for square row-major matrices whose size is a multiple of the tile size. A work-group computes one tile of c:
// it iterates over a tile row of a and a tile column of b, and each element loaded into LDS is used by a whole row or
// column.
#include <shared/device/device.hpp>

#include "matmul_tiles.hpp"

using namespace hsadrv;

template <class Tile>
HSADRV_DEVICE void multiply(const float* a, const float* b, float* c, uint32_t n, uint32_t size, Tile left,
                            Tile right) {
    const uint32_t x = get_local_id(0), y = get_local_id(1);
    const uint32_t column = get_group_id(0) * size + x, row = get_group_id(1) * size + y;
    float sum = 0;
    for (uint32_t start = 0; start < n; start += size) {
        left(y, x) = a[row * n + start + x];
        right(y, x) = b[(start + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint32_t k = 0; k < size; ++k) sum += left(y, k) * right(k, x);
        barrier(CLK_LOCAL_MEM_FENCE);  // before the next tiles overwrite these
    }
    c[row * n + column] = sum;
}

/// Tiles of 16 x 16 in static LDS.
HSADRV_KERNEL void matmul_static(const float* a, const float* b, float* c, uint32_t n) {
    auto left = shared::array<float, 16, 16>();
    auto right = shared::array<float, 16, 16>();
    multiply<decltype(left)>(a, b, c, n, 16, left, right);
}

/// Tiles in LDS whose size the launch sets.
HSADRV_KERNEL void matmul_dynamic(const float* a, const float* b, float* c, uint32_t n, uint32_t tile,
                                  shared::LdsPointer lds) {
    const auto layout = matmul_tiles(tile);
    const auto left = shared::dynamic_array<0>(layout, lds);
    const auto right = shared::dynamic_array<1>(layout, lds);
    multiply(a, b, c, n, tile, left, right);
}
