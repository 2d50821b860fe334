#include "devicearray/element_strides.hpp"

namespace hsadrv {

std::optional<Dims> element_strides(const Layout& layout) {
    Dims strides = Layout::contiguous(layout.shape(), 1).strides_bytes();
    if (layout.size() == 0) return strides;
    for (int i = 0; i < layout.rank(); ++i) {
        if (layout.shape()[i] == 1) continue;
        if (layout.strides_bytes()[i] % layout.itemsize() != 0) return std::nullopt;
        strides[i] = layout.strides_bytes()[i] / layout.itemsize();
    }
    return strides;
}

}  // namespace hsadrv
