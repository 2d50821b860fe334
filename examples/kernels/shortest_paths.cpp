// One step of Floyd and Warshall's algorithm on tiles of a matrix of distances: paths from a row of `c` to a column of
// `c` through the columns of `a`, which are the rows of `b`. The tiles may be the same.
#include "shared/device/device.hpp"

#include "shortest_paths_tile.hpp"

using namespace hsadrv;

HSADRV_KERNEL void relax(uint32_t* c, const uint32_t* a, const uint32_t* b) {
    auto left = shared::array<uint32_t, tile_items, tile_items>();
    auto right = shared::array<uint32_t, tile_items, tile_items>();
    const uint32_t x = get_local_id(0), y = get_local_id(1), at = y * tile_items + x;
    const bool left_changes = a == c, right_changes = b == c;
    uint32_t shortest = c[at];
    left(y, x) = a[at];
    right(y, x) = b[at];
    for (uint32_t through = 0; through < tile_items; ++through) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint32_t length = left(y, through) + right(through, x);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (length >= shortest) continue;
        shortest = length;
        if (left_changes) left(y, x) = length;
        if (right_changes) right(y, x) = length;
    }
    c[at] = shortest;
}
