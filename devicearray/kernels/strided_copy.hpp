// Arguments of the strided copy kernels, shared by host and device.
#pragma once

#include <stdint.h>

namespace hsadrv::detail {

/// Axis 0 is the fastest and the grid's x, axis 1 its y; the others together are its z. There are at least three axes;
/// unused ones have one element. If the grid is smaller than the shape, work-items loop.
struct StridedCopyArguments {
    /// Merged axes have at least two elements each, and 2^47 bytes can be addressed; one more for the parts of an item.
    static constexpr uint32_t max_rank = 48;

    unsigned char* to;
    const unsigned char* from;
    uint64_t shape[max_rank];
    int64_t to_strides[max_rank], from_strides[max_rank];  ///< bytes
    uint64_t outer;                                        ///< product of shape[2] and later extents
    uint32_t rank;
    uint32_t grid[3];  ///< work-items
};

}  // namespace hsadrv::detail
