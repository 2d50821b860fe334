// Rect: a rectangle or box of bytes to copy between pitched memories.
//
//   stream.copy_rect_async({.destination = {device, 512}, .source = {host, 1000},  // base, pitch in bytes
//                           .width_bytes = 300, .height = 64});
//   // a column of a matrix of floats, a box of a volume:
//   {.destination = {column, 4}, .source = {&matrix[0][7], row_bytes}, .width_bytes = 4, .height = rows}
//   {.destination = {to, 256, 256 * 64}, .source = {from, 320, 320 * 80},
//    .width_bytes = 256, .height = 64, .depth = 16}
//
// All sizes are in bytes, without alignment requirements. The address is that of the first byte to copy. The pitch is
// the distance between the starts of two rows, the slice between those of two planes; each is used only if there is
// more than one row or plane. Thread safety: values. Throws: only InvalidArgument, naming the numbers.
#pragma once

#include "shared/cpp20.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace hsadrv {

template <class Void>
struct Pitched {
    Void* address = nullptr;
    std::size_t pitch_bytes = 0;  ///< from a row to the next
    std::size_t slice_bytes = 0;  ///< from a plane to the next
};

struct Rect {
    Pitched<void> destination = {};
    Pitched<const void> source = {};
    std::size_t width_bytes = 0;
    std::size_t height = 1;  ///< rows
    std::size_t depth = 1;   ///< planes

    bool empty() const noexcept { return width_bytes == 0 || height == 0 || depth == 0; }
    /// "3-D 300 B x 64 x 2, to 0x… (pitch 512, slice 65536), from 0x… (pitch 1000, slice 0)"
    std::string text() const;
};

namespace detail {

/// Bytes from the first to one past the last of a side. Throws InvalidArgument if they do not fit into an
/// address space, or if rows or planes of the side overlap.
std::size_t destination_extent(const Rect& rect);
std::size_t source_extent(const Rect& rect);

/// True if the two sides overlap; `distance` is destination minus source. Exact if both have the same pitch and
/// slice, so that disjoint windows of one matrix do not overlap; otherwise compares their extents.
bool overlapping(const Rect& rect, std::intptr_t distance);

/// The same bytes with the fewest dimensions: contiguous rows become one row, contiguous planes become rows.
Rect flattened(Rect rect) noexcept;

}  // namespace detail
}  // namespace hsadrv
