// Runs the loops of a StridedCopy, and calls a function with both sides' offsets.
//
//     detail::for_each_place(copy, copy.shape.rank(), [&](std::int64_t to, std::int64_t from) { … });
//
// Thread safety: no state. Allocates nothing; throws what the function throws.
#pragma once

#include <cstdint>

#include "devicearray/strided_copy.hpp"

namespace hsadrv::detail {

/// Calls `place` for every index of the first `axes` axes, the last of them fastest, with the offsets in bytes from
/// each side's first element.
template <class Place>
void for_each_place(const StridedCopy& copy, int axes, Place&& place) {
    Dims index = Dims::filled(axes, 0);
    std::int64_t to = copy.to_offset, from = copy.from_offset;
    while (true) {
        place(to, from);
        int axis = axes - 1;
        for (; axis >= 0; --axis) {
            if (++index[axis] < copy.shape[axis]) break;
            to -= (copy.shape[axis] - 1) * copy.to_strides[axis];
            from -= (copy.shape[axis] - 1) * copy.from_strides[axis];
            index[axis] = 0;
        }
        if (axis < 0) return;
        to += copy.to_strides[axis];
        from += copy.from_strides[axis];
    }
}

}  // namespace hsadrv::detail
