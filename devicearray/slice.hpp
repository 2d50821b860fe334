// Parts of an array by Python's rules of indexing: a layout, and where its first element lies.
//
//     SubLayout part = slice(image, {Slice{10, 20}, Slice{{}, {}, -1}});  // image[10:20, ::-1]
//     slice(image, {3});  slice(image, {ellipsis, newaxis});              // image[3], image[..., None]
//     for (const SubLayout& piece : split(line, 1000)) …                  // line[0:1000], line[1000:2000], …
//
// Values; pure. Bounds of slices are clipped, as Python does; integers must be in range. Throws
// InvalidArgument, naming the index, the axis and its extent.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "devicearray/layout.hpp"

namespace hsadrv {

/// start:stop:step; what is not given is as in Python.
struct Slice {
    std::optional<std::int64_t> start = {}, stop = {}, step = {};
};

/// A new axis of one element (Python's None).
struct NewAxis {};
inline constexpr NewAxis newaxis{};
/// All axes that the other indices leave.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};

/// One place between the brackets.
class Index {
  public:
    enum class Type : std::uint8_t { integer, slice, new_axis, all_others };

    template <std::integral Integer>
    constexpr Index(Integer at) : type_(Type::integer) {
        slice_.start = Dims{at}[0];  // throws where 63 bits do not hold it
    }
    constexpr Index(const Slice& slice) : type_(Type::slice), slice_(slice) {}
    constexpr Index(NewAxis) : type_(Type::new_axis) {}
    constexpr Index(Ellipsis) : type_(Type::all_others) {}

    constexpr Type type() const { return type_; }
    constexpr std::int64_t integer() const { return *slice_.start; }
    constexpr const Slice& slice() const { return slice_; }

  private:
    Type type_;
    Slice slice_{};
};

/// A part: its layout, and bytes from the whole's first element to its own. 0 where the part is empty.
struct SubLayout {
    Layout layout;
    std::int64_t offset_bytes = 0;
};

SubLayout slice(const Layout& layout, std::span<const Index> indices);
inline SubLayout slice(const Layout& layout, std::initializer_list<Index> indices) {
    return slice(layout, std::span<const Index>(indices.begin(), indices.size()));
}

/// Pieces of `section` elements along an axis; the last one has what remains. None where the axis has none.
std::vector<SubLayout> split(const Layout& layout, std::int64_t section, int axis = 0);

}  // namespace hsadrv
