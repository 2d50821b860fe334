// Strides counted in elements, as mdspan and DLPack have them, of a layout whose own are bytes.
//
//     element_strides(Layout::contiguous({2, 3}, 4));   // (3, 1)
//
// Pure. Nothing where a stride is no multiple of the item size. Strides that do not matter (of axes of one element, and
// of empty arrays) are those of C order, whatever the layout has there.
#pragma once

#include <optional>

#include "devicearray/layout.hpp"

namespace hsadrv {

std::optional<Dims> element_strides(const Layout& layout);

}  // namespace hsadrv
