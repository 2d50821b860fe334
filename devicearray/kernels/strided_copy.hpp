// The arguments of the kernels that copy strided elements, for host and device alike.
#pragma once

#include <stdint.h>

namespace hsadrv::detail {

/// Axis 0 runs fastest and is the grid's x, axis 1 its y; all others together are its z. At least three axes; those
/// that a copy has not are of one element. Work-items whose grid is smaller than the shape go round again.
struct StridedCopyArguments {
    static constexpr uint32_t max_rank = 10;  ///< an array's eight, one for the parts of an item, one in reserve

    unsigned char* to;
    const unsigned char* from;
    uint64_t shape[max_rank];
    int64_t to_strides[max_rank], from_strides[max_rank];  ///< bytes
    uint64_t outer;                                        ///< product of shape[2] to the last
    uint32_t rank;
    uint32_t grid[3];  ///< work-items
};

}  // namespace hsadrv::detail
