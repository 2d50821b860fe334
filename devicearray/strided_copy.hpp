// A copy between two strided regions, reduced to the fewest and simplest loops.
//
//     StridedCopy copy = StridedCopy::between(to_layout, from_layout);   // equal shapes and item sizes
//     copy.form();                          // a line, a rectangle or box, or single elements
//     // for every index of copy.shape: copy.item_bytes bytes from copy.from_offset + index * copy.from_strides
//     //                                                 to copy.to_offset + index * copy.to_strides
//
// Axes of one element are removed; axes that both sides traverse as one are merged; the destination's strides are
// positive, the largest first; elements adjacent on both sides are merged into larger items. Values; pure; nothing is
// allocated. Borrows nothing. Throws nothing: layouts have checked their ranges.
#pragma once

#include <cstdint>

#include "devicearray/layout.hpp"

namespace hsadrv {

struct StridedCopy {
    enum class Form : std::uint8_t {
        line,       ///< item_bytes bytes, once
        rectangle,  ///< disjoint rows of item_bytes bytes in one or two loops: a Rect
        elements,   ///< anything else
    };

    Dims shape = {};
    Dims to_strides = {}, from_strides = {};      ///< bytes
    std::int64_t to_offset = 0, from_offset = 0;  ///< bytes, from each side's first element
    std::int64_t item_bytes = 0;                  ///< 0: empty copy

    static StridedCopy between(const Layout& to, const Layout& from);

    std::int64_t count() const;
    /// Bytes written.
    std::int64_t bytes() const { return item_bytes == 0 ? 0 : count() * item_bytes; }
    Form form() const;

    /// The same with its loops normalised again, after a change of strides.
    StridedCopy simplified() const;
};

/// True if the strides show that no two elements share memory. Slices, transposes and reshapes of an array are nested:
/// each stride is at least the size of what it steps over.
bool elements_are_apart(const Layout& layout);

}  // namespace hsadrv
