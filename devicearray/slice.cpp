#include "devicearray/slice.hpp"

#include <algorithm>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

/// What a slice takes of an axis.
struct Taken {
    std::int64_t start = 0, count = 0, step = 1;
};

Taken taken(const Slice& slice, std::int64_t extent) {
    const std::int64_t step = slice.step.value_or(1);
    if (step == 0) throw InvalidArgument("slice: a step of 0");
    const bool up = step > 0;
    // Clipped to where the first and the one behind the last may lie.
    const std::int64_t lowest = up ? 0 : -1, highest = up ? extent : extent - 1;
    const auto clip = [&](std::int64_t at) {
        if (at < 0) at += extent;
        return std::clamp(at, lowest, highest);
    };
    const std::int64_t start = slice.start ? clip(*slice.start) : (up ? lowest : highest);
    const std::int64_t stop = slice.stop ? clip(*slice.stop) : (up ? highest : lowest);
    const std::int64_t distance = up ? stop - start : start - stop;
    if (distance <= 0) return {0, 0, step};
    // Unsigned: the lowest step has no positive one.
    const std::uint64_t width = up ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
    return {start, static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / width + 1), step};
}

class Slicing {
  public:
    explicit Slicing(const Layout& layout) : from_(layout) {}

    void apply(const Index& index, int all_others) {
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

    SubLayout result() const {
        const Layout layout =
            Layout::strided(Dims(std::span<const std::int64_t>(shape_)),
                            Dims(std::span<const std::int64_t>(strides_)), from_.itemsize());
        return {layout, layout.size() == 0 ? 0 : offset_};
    }

  private:
    void add(std::int64_t extent, std::int64_t stride) {
        shape_.push_back(extent);
        strides_.push_back(stride);
    }

    void take_one(std::int64_t given) {
        const std::int64_t extent = from_.shape()[axis_];
        const std::int64_t at = given < 0 ? given + extent : given;
        if (at < 0 || at >= extent) {
            throw InvalidArgument("slice: index " + std::to_string(given) + " of axis " +
                                  std::to_string(axis_) + ", which has " + std::to_string(extent) +
                                  " elements; the array has shape " + from_.shape().to_string());
        }
        move(at);
        ++axis_;
    }

    void take(const Slice& slice) {
        const Taken part = taken(slice, from_.shape()[axis_]);
        std::int64_t stride = from_.strides_bytes()[axis_];
        // Beyond 63 bits only where there is no second element.
        if (__builtin_mul_overflow(stride, part.step, &stride)) stride = from_.itemsize();
        if (part.count > 0) move(part.start);
        add(part.count, stride);
        ++axis_;
    }

    /// An array with elements reaches each of them within 63 bits; in an empty one the offset has no meaning.
    void move(std::int64_t steps) {
        if (from_.size() != 0 && steps != 0) offset_ += steps * from_.strides_bytes()[axis_];
    }

    const Layout& from_;
    std::vector<std::int64_t> shape_{}, strides_{};
    std::int64_t offset_ = 0;
    int axis_ = 0;
};

}  // namespace

SubLayout slice(const Layout& layout, std::span<const Index> indices) {
    int used = 0, ellipses = 0;
    for (const Index& index : indices) {
        used += index.type() == Index::Type::integer || index.type() == Index::Type::slice;
        ellipses += index.type() == Index::Type::all_others;
    }
    if (used > layout.rank() || ellipses > 1) {
        throw InvalidArgument("slice: " + std::to_string(used) + " indices and " + std::to_string(ellipses) +
                              " ellipses for an array of shape " + layout.shape().to_string());
    }
    Slicing slicing(layout);
    for (const Index& index : indices) slicing.apply(index, layout.rank() - used);
    if (ellipses == 0) slicing.apply(ellipsis, layout.rank() - used);
    return slicing.result();
}

std::vector<SubLayout> split(const Layout& layout, std::int64_t section, int axis) {
    const int along = axis < 0 ? axis + layout.rank() : axis;
    if (section <= 0 || along < 0 || along >= layout.rank()) {
        throw InvalidArgument("split shape " + layout.shape().to_string() + " into sections of " +
                              std::to_string(section) + " along axis " + std::to_string(axis) +
                              ": there is no such axis, or sections must have an element at least");
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
