// Parts of an array by Python's indexing rules: a layout and the offset of its first element.
//
//     SubLayout part = slice(image, {Slice{10, 20}, Slice{{}, {}, -1}});  // image[10:20, ::-1]
//     slice(image, {3});  slice(image, {ellipsis, newaxis});              // image[3], image[..., None]
//     for (const SubLayout& piece : split(line, 1000)) …                  // line[0:1000], line[1000:2000], …
//
// Values; pure. Slice bounds are clipped, as in Python; integer indices must be in range. Throws InvalidArgument,
// naming the index, the axis and its extent.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "devicearray/layout.hpp"

namespace hsadrv {

/// start:stop:step; omitted parts default as in Python.
struct Slice {
    std::optional<std::int64_t> start = {}, stop = {}, step = {};
};

/// A new axis of one element (Python's None).
struct NewAxis {};
inline constexpr NewAxis newaxis{};
/// All axes not covered by the other indices.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};

/// One index between the brackets.
class Index {
  public:
    enum class Type : std::uint8_t { integer, slice, new_axis, all_others };

    template <std::integral Integer>
    constexpr Index(Integer at) : type_(Type::integer) {
        slice_.start = Dims{at}[0];  // throws if it does not fit int64_t
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

/// A part's layout, and the offset in bytes of its first element from the whole's; 0 if the part is empty.
struct SubLayout {
    Layout layout;
    std::int64_t offset_bytes = 0;
};

constexpr SubLayout slice(const Layout& layout, std::span<const Index> indices);
constexpr SubLayout slice(const Layout& layout, std::initializer_list<Index> indices) {
    return slice(layout, std::span<const Index>(indices.begin(), indices.size()));
}

/// Sections of `section` elements along an axis; the last one has the rest. Empty if the axis has no elements.
std::vector<SubLayout> split(const Layout& layout, std::int64_t section, int axis = 0);

// ---- details ----

namespace detail {

[[noreturn]] void throw_step_zero();
[[noreturn]] void throw_no_index(const Layout& layout, std::int64_t index, int axis);
[[noreturn]] void throw_too_many_axes(const Layout& layout);
[[noreturn]] void throw_bad_indices(const Layout& layout, int indices, int ellipses);

/// The range that a slice selects on an axis.
struct SliceTaken {
    std::int64_t start = 0, count = 0, step = 1;
};

constexpr SliceTaken taken(const Slice& slice, std::int64_t extent) {
    const std::int64_t step = slice.step.value_or(1);
    if (step == 0) throw_step_zero();
    const bool up = step > 0;
    // Clipped to the valid positions of the first element and of the end.
    const std::int64_t lowest = up ? 0 : -1, highest = up ? extent : extent - 1;
    const auto clip = [&](std::int64_t at) {
        if (at < 0) at += extent;
        return at < lowest ? lowest : at > highest ? highest : at;
    };
    const std::int64_t start = slice.start ? clip(*slice.start) : (up ? lowest : highest);
    const std::int64_t stop = slice.stop ? clip(*slice.stop) : (up ? highest : lowest);
    const std::int64_t distance = up ? stop - start : start - stop;
    if (distance <= 0) return {0, 0, step};
    // Unsigned: the lowest step has no positive counterpart.
    const std::uint64_t width = up ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
    return {start, static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / width + 1), step};
}

class Slicing {
  public:
    constexpr explicit Slicing(const Layout& layout) : from_(layout) {}

    constexpr void apply(const Index& index, int all_others) {
        switch (index.type()) {
            case Index::Type::integer:
                return take_one(index.integer());
            case Index::Type::slice:
                return take(index.slice());
            case Index::Type::new_axis:
                return add(1, from_.itemsize());
            case Index::Type::all_others:
                for (int i = 0; i < all_others; ++i) take({});
        }
    }

    constexpr SubLayout result() const {
        const Layout layout = Layout::strided(Dims(std::span(shape_.data(), rank_)),
                                              Dims(std::span(strides_.data(), rank_)), from_.itemsize());
        return {layout, layout.size() == 0 ? 0 : offset_};
    }

  private:
    constexpr void add(std::int64_t extent, std::int64_t stride) {
        if (rank_ == shape_.size()) throw_too_many_axes(from_);
        shape_[rank_] = extent;
        strides_[rank_++] = stride;
    }

    constexpr void take_one(std::int64_t given) {
        const std::int64_t extent = from_.shape()[axis_];
        const std::int64_t at = given < 0 ? given + extent : given;
        if (at < 0 || at >= extent) throw_no_index(from_, given, axis_);
        move(at);
        ++axis_;
    }

    constexpr void take(const Slice& slice) {
        const SliceTaken part = taken(slice, from_.shape()[axis_]);
        std::int64_t stride = from_.strides_bytes()[axis_];
        // Overflows only if there is no second element.
        if (__builtin_mul_overflow(stride, part.step, &stride)) stride = from_.itemsize();
        if (part.count > 0) move(part.start);
        add(part.count, stride);
        ++axis_;
    }

    /// Cannot overflow if the array has elements; for an empty array the offset is meaningless.
    constexpr void move(std::int64_t steps) {
        if (from_.size() != 0 && steps != 0) offset_ += steps * from_.strides_bytes()[axis_];
    }

    const Layout& from_;
    std::array<std::int64_t, Dims::max_rank> shape_, strides_;  // the first `rank_`
    std::size_t rank_ = 0;
    std::int64_t offset_ = 0;
    int axis_ = 0;
};

}  // namespace detail

constexpr SubLayout slice(const Layout& layout, std::span<const Index> indices) {
    int used = 0, ellipses = 0;
    for (const Index& index : indices) {
        used += index.type() == Index::Type::integer || index.type() == Index::Type::slice;
        ellipses += index.type() == Index::Type::all_others;
    }
    if (used > layout.rank() || ellipses > 1) detail::throw_bad_indices(layout, used, ellipses);
    detail::Slicing slicing(layout);
    for (const Index& index : indices) slicing.apply(index, layout.rank() - used);
    if (ellipses == 0) slicing.apply(ellipsis, layout.rank() - used);
    return slicing.result();
}

}  // namespace hsadrv
