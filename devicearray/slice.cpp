#include "devicearray/slice.hpp"

#include <algorithm>

#include "hsadrv/error.hpp"

namespace hsadrv {

void detail::throw_step_zero() { throw InvalidArgument("slice: a step of 0"); }

void detail::throw_no_index(const Layout& layout, std::int64_t index, int axis) {
    throw InvalidArgument("slice: index " + std::to_string(index) + " of axis " + std::to_string(axis) +
                          ", which has " + std::to_string(layout.shape()[axis]) + " elements; the array has shape " +
                          layout.shape().to_string());
}

void detail::throw_too_many_axes(const Layout& layout) {
    throw InvalidArgument("slice: an array of shape " + layout.shape().to_string() + " would have more than " +
                          std::to_string(Dims::max_rank) + " axes");
}

void detail::throw_bad_indices(const Layout& layout, int indices, int ellipses) {
    throw InvalidArgument("slice: " + std::to_string(indices) + " indices and " + std::to_string(ellipses) +
                          " ellipses for an array of shape " + layout.shape().to_string());
}

std::vector<SubLayout> split(const Layout& layout, std::int64_t section, int axis) {
    const int along = axis < 0 ? axis + layout.rank() : axis;
    if (section <= 0 || along < 0 || along >= layout.rank()) {
        throw InvalidArgument("split shape " + layout.shape().to_string() + " into sections of " +
                              std::to_string(section) + " along axis " + std::to_string(axis) +
                              ": the axis is out of range, or the section is less than 1");
    }
    std::vector<Index> indices(static_cast<std::size_t>(along) + 1, Slice{});
    std::vector<SubLayout> pieces;
    const std::int64_t extent = layout.shape()[along];
    for (std::int64_t at = 0; at < extent; at += std::min(section, extent - at)) {
        indices.back() = Slice{at, at + std::min(section, extent - at)};
        pieces.push_back(slice(layout, indices));
    }
    return pieces;
}

}  // namespace hsadrv
