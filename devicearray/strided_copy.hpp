// A copy between two strided places, reduced to as few and as simple loops as it has.
//
//     StridedCopy copy = StridedCopy::between(to_layout, from_layout);   // equal shapes and item sizes
//     copy.form();                          // a line, a rectangle or box, or single elements
//     // for every index of copy.shape: copy.item_bytes bytes from copy.from_offset + index * copy.from_strides
//     //                                                 to copy.to_offset + index * copy.to_strides
//
// Axes of one element are gone; axes that both sides step through as one are one; the destination's strides are
// positive, the largest first; elements that lie beside each other on both sides are one larger item. Values;
// pure; nothing is allocated. Borrows nothing. Throws nothing: layouts have checked their reach.
#pragma once

#include <cstdint>

#include "devicearray/layout.hpp"

namespace hsadrv {

struct StridedCopy {
    enum class Form : std::uint8_t {
        line,       ///< item_bytes bytes, once
        rectangle,  ///< rows of item_bytes bytes in one or two loops, none running into another: a Rect
        elements,   ///< anything else
    };

    Dims shape = {};
    Dims to_strides = {}, from_strides = {};      ///< bytes
    std::int64_t to_offset = 0, from_offset = 0;  ///< bytes, from each side's first element
    std::int64_t item_bytes = 0;                  ///< 0: nothing to copy

    static StridedCopy between(const Layout& to, const Layout& from);

    std::int64_t count() const;
    /// What is written.
    std::int64_t bytes() const { return item_bytes == 0 ? 0 : count() * item_bytes; }
    Form form() const;

    /// The same with the loops put in order again, after its strides were changed.
    StridedCopy simplified() const;
};

/// Has each element memory of its own, as far as strides tell? Whatever slices, transposes and reshapes of an array
/// give is nested: each stride is at least what is inside it.
bool elements_are_apart(const Layout& layout);

}  // namespace hsadrv
