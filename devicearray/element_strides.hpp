// Converts a layout's strides from bytes to elements, as mdspan and DLPack count them.
//
//     element_strides(Layout::contiguous({2, 3}, 4));   // (3, 1)
//
// Pure. Returns std::nullopt if a stride is not a multiple of the item size. Ignored strides (of axes of one element,
// and of empty arrays) are replaced by those of C order.
#pragma once

#include <optional>

#include "devicearray/layout.hpp"

namespace hsadrv {

std::optional<Dims> element_strides(const Layout& layout);

}  // namespace hsadrv
