// LDS arrays: every shape, padded, several at once, checked on request.
#define HSADRV_CHECK_BOUNDS
#include <shared/device/device.hpp>

#include "random_layouts.hpp"
#include "transpose_tile.hpp"

using namespace hsadrv;

HSADRV_KERNEL void random_layouts(const LayoutOrder* orders, LayoutFacts* facts, uint32_t count) {
    const uint32_t i = get_global_id(0);
    if (i < count) layouts::describe(orders[i], facts[i]);
}

/// Transposes a square matrix tile by tile; the tile's padding spreads its columns over the banks, and is never
/// indexed.
HSADRV_KERNEL void transpose(const float* in, float* out, uint32_t n, shared::LdsPointer lds) {
    constexpr auto layout = transpose_tile();
    const auto tile = shared::dynamic_array<0>(layout, lds);
    const uint32_t x = get_local_id(0), y = get_local_id(1);
    const uint32_t left = get_group_id(0) * tile_size, top = get_group_id(1) * tile_size;
    tile(y, x) = in[(top + y) * n + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(left + y) * n + top + x] = tile(x, y);
}

/// Writes one element of a 4 x 5 array: in range or not, as the launch chooses.
HSADRV_KERNEL void write_one(uint32_t* out, int64_t row, int64_t column) {
    auto checked = shared::array<uint32_t, 4, 5>();
    if (get_local_id(0) == 0) {
        for (uint32_t i = 0; i < 4; ++i) {
            for (uint32_t j = 0; j < 5; ++j) checked(i, j) = 0;
        }
        checked(row, column) = 1;
        for (uint32_t i = 0; i < checked.size(); ++i) out[i] = checked(i / 5, i % 5);
    }
}

/// An empty dynamic array between two others.
HSADRV_KERNEL void around_nothing(uint32_t* out, uint32_t n, shared::LdsPointer lds) {
    const auto layout = around_nothing_layout(n);
    const auto before = shared::dynamic_array<0>(layout, lds);
    const auto nothing = shared::dynamic_array<1>(layout, lds);
    const auto after = shared::dynamic_array<2>(layout, lds);
    const uint32_t i = get_local_id(0);
    before[i] = i;
    after[i] = 1000 + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = before[n - 1 - i] + after[n - 1 - i] + nothing.size() + nothing.extent(1);
}

/// Every byte of the launch's LDS: each work-item fills its share, and counts the bytes that a neighbour wrote.
HSADRV_KERNEL void all_bytes(uint32_t* counts, uint32_t size_bytes, shared::LdsPointer lds) {
    const auto bytes = shared::dynamic_array<0>(shared::lds_layout(shared::lds_array<unsigned char>(size_bytes)), lds);
    const uint32_t i = get_local_id(0), step = get_local_size(0);
    for (uint32_t b = i; b < size_bytes; b += step) bytes[b] = static_cast<unsigned char>(b * 7 + b / 256);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint32_t right = 0;
    for (uint32_t b = (i + 1) % step; b < size_bytes; b += step)
        right += bytes[b] == static_cast<unsigned char>(b * 7 + b / 256);
    counts[i] = right;
}
