// Layout's views by axes, as declared in layout.hpp, usable at compile time. Included by layout.hpp.
#pragma once

#include "devicearray/layout.hpp"

namespace hsadrv {

namespace detail {
[[noreturn]] void throw_no_element(const Layout& layout, const Dims& index);
[[noreturn]] void throw_bad_axes(const char* call, const Layout& layout, const Dims& axes, const char* why);
[[noreturn]] void throw_no_squeeze(const Layout& layout, const Dims& axes, std::int64_t axis);
[[noreturn]] void throw_no_broadcast(const Layout& layout, const Dims& shape);
[[noreturn]] void throw_no_view(const Layout& layout, std::int64_t itemsize, const char* why);
}  // namespace detail

constexpr std::int64_t Layout::offset_of(const Dims& index) const {
    std::int64_t offset = 0;
    bool valid = index.rank() == rank();
    for (int i = 0; i < rank() && valid; ++i) {
        const std::int64_t at = index[i] < 0 ? index[i] + shape_[i] : index[i];
        valid = at >= 0 && at < shape_[i];
        if (valid && at > 0) offset += at * strides_bytes_[i];
    }
    if (!valid) detail::throw_no_element(*this, index);
    return offset;
}

constexpr Layout Layout::transpose() const {
    Dims axes = Dims::filled(rank(), 0);
    for (int i = 0; i < rank(); ++i) axes[i] = rank() - 1 - i;
    return transpose(axes);
}

constexpr Layout Layout::transpose(const Dims& axes) const {
    Layout result = *this;
    std::uint64_t seen = 0;
    bool valid = axes.rank() == rank();
    for (int i = 0; i < rank() && valid; ++i) {
        const std::int64_t axis = axes[i] < 0 ? axes[i] + rank() : axes[i];
        valid = axis >= 0 && axis < rank() && (seen >> axis & 1u) == 0;
        if (!valid) break;
        seen |= std::uint64_t{1} << axis;
        result.shape_[i] = shape_[static_cast<int>(axis)];
        result.strides_bytes_[i] = strides_bytes_[static_cast<int>(axis)];
    }
    if (!valid) detail::throw_bad_axes("transpose", *this, axes, "each axis must be given exactly once");
    return result;
}

constexpr Layout Layout::squeeze(const Dims& axes) const {
    Dims all = Dims::filled(rank(), 0);
    for (const std::int64_t given : axes) {
        const std::int64_t axis = given < 0 ? given + rank() : given;
        if (axis < 0 || axis >= rank() || shape_[static_cast<int>(axis)] != 1 || all[static_cast<int>(axis)] != 0)
            detail::throw_no_squeeze(*this, axes, given);
        all[static_cast<int>(axis)] = 1;
    }
    Layout result = *this;
    result.shape_ = result.strides_bytes_ = Dims::filled(rank() - axes.rank(), 0);
    for (int from = 0, to = 0; from < rank(); ++from) {
        if (all[from] != 0) continue;
        result.shape_[to] = shape_[from];
        result.strides_bytes_[to++] = strides_bytes_[from];
    }
    return result;
}

constexpr Layout Layout::expand_dims(int axis) const {
    const int at = axis < 0 ? axis + rank() + 1 : axis;
    if (at < 0 || at > rank() || rank() == Dims::max_rank)
        detail::throw_bad_axes("expand_dims", *this, axis,
                               "the position is out of range, or the array has the most axes already");
    Layout result = *this;
    result.shape_ = result.strides_bytes_ = Dims::filled(rank() + 1, 1);
    result.strides_bytes_[at] = itemsize_;  // any value: the axis has one element
    for (int i = 0; i < rank(); ++i) {
        result.shape_[i + (i >= at)] = shape_[i];
        result.strides_bytes_[i + (i >= at)] = strides_bytes_[i];
    }
    return result;
}

constexpr Layout Layout::broadcast_to(const Dims& shape) const {
    Dims strides = Dims::filled(shape.rank(), 0);
    const int added = shape.rank() - rank();
    bool valid = added >= 0;
    for (int i = 0; i < rank() && valid; ++i) {
        const bool same = shape[i + added] == shape_[i];
        valid = same || (shape_[i] == 1 && shape[i + added] >= 0);
        if (same) strides[i + added] = strides_bytes_[i];
    }
    if (!valid) detail::throw_no_broadcast(*this, shape);
    return strided(shape, strides, itemsize_);
}

constexpr Layout Layout::view(std::int64_t itemsize) const {
    if (itemsize == itemsize_) return *this;
    const auto refuse = [&](const char* why) { detail::throw_no_view(*this, itemsize, why); };
    if (itemsize <= 0) refuse("elements must not be empty");
    if (rank() == 0) refuse("a scalar has no last axis to change");
    const int last = rank() - 1;
    if (shape_[last] != 1 && size() != 0 && strides_bytes_[last] != itemsize_)
        refuse("the last axis must be contiguous; copy it into a contiguous array first");
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(shape_[last], itemsize_, &bytes)) refuse("the last axis exceeds 63 bits");
    if (bytes % itemsize != 0) refuse("the bytes of the last axis do not make whole elements");
    Dims shape = shape_, strides = strides_bytes_;
    shape[last] = bytes / itemsize;
    strides[last] = itemsize;
    return strided(shape, strides, itemsize);
}

}  // namespace hsadrv
