// The positions of an array's elements in memory: NumPy's shape and strides, with strides in bytes. Holds no memory and
// no element type, only the element size.
//
//     Layout image = Layout::contiguous({480, 640}, sizeof(float));        // C order; Order::F for Fortran's
//     image.strides_bytes();                                               // (2560, 4)
//     image.reshape({640, 480});  image.ravel();  image.transpose();       // new values; the bytes stay where they are
//
// Views that start at another element (slices, sections) are in slice.hpp.
//
// Values: any thread may use any object; nothing is allocated. Every layout is checked: no extent is negative, and
// size_bytes() fits int64_t. Throws InvalidArgument, naming the shapes and strides.
#pragma once

#include <cstdint>
#include <string>

#include "devicearray/dims.hpp"

namespace hsadrv {

/// Which index varies fastest: the last in C order, the first in Fortran order. A: either; F if the array is F- but not
/// C-contiguous, else C.
enum class Order : char { C = 'C', F = 'F', A = 'A' };

/// Bytes relative to an array's first element: [begin, end), with begin <= 0.
struct ByteRange {
    std::int64_t begin = 0, end = 0;

    constexpr std::int64_t size_bytes() const { return end - begin; }
    friend constexpr bool operator==(const ByteRange&, const ByteRange&) = default;
};

class Layout {
  public:
    /// Rank 0, one byte.
    constexpr Layout() = default;

    /// Contiguous elements in the given order; A means C. Strides of empty arrays are NumPy's: an extent of 0 counts as
    /// 1.
    static constexpr Layout contiguous(const Dims& shape, std::int64_t itemsize, Order order = Order::C);

    /// Any strides, of either sign, multiples of the item size or not; elements may overlap.
    static constexpr Layout strided(const Dims& shape, const Dims& strides_bytes, std::int64_t itemsize);

    constexpr int rank() const { return shape_.rank(); }
    constexpr const Dims& shape() const { return shape_; }
    constexpr const Dims& strides_bytes() const { return strides_bytes_; }
    constexpr std::int64_t itemsize() const { return itemsize_; }

    /// Number of elements; 1 for rank 0.
    constexpr std::int64_t size() const;
    /// Bytes of the elements, excluding gaps (NumPy's nbytes).
    constexpr std::int64_t size_bytes() const { return size() * itemsize_; }

    /// As in NumPy: strides of axes with one element are ignored, and an empty array is contiguous.
    constexpr bool is_c_contiguous() const;
    constexpr bool is_f_contiguous() const;
    constexpr bool is_contiguous() const { return is_c_contiguous() || is_f_contiguous(); }

    /// The range of bytes that the elements span, relative to the first element; empty for an empty array.
    constexpr ByteRange extent() const;
    /// Bytes from the first element to the one at `index`; negative indices count from the end. Throws if the index is
    /// out of range.
    constexpr std::int64_t offset_of(const Dims& index) const;
    /// Resolves Order::A for this layout.
    constexpr Order resolved(Order order) const;

    /// The same bytes under another shape, elements counted in `order`. One extent may be -1: it is computed from the
    /// rest. Works for non-contiguous arrays whenever strides exist. Throws if the elements would have to be copied;
    /// the message says how.
    constexpr Layout reshape(const Dims& shape, Order order = Order::C) const;
    /// One dimension; the same condition as reshape.
    constexpr Layout ravel(Order order = Order::C) const;
    /// Elements of another size over the same bytes: the last axis, which must be contiguous, grows or shrinks to
    /// match.
    constexpr Layout view(std::int64_t itemsize) const;

    /// Axes reversed.
    constexpr Layout transpose() const;
    /// Axis i of the result is axis axes[i] of this layout; negative axes count from the end.
    constexpr Layout transpose(const Dims& axes) const;
    /// Removes all axes of one element, or the given ones, which must have one.
    constexpr Layout squeeze() const;
    constexpr Layout squeeze(const Dims& axes) const;
    /// Inserts an axis of one element before `axis` (NumPy's newaxis); -1 appends it.
    constexpr Layout expand_dims(int axis) const;
    /// Repeats axes of one element and prepends new axes, with strides of 0. Several elements then share memory: the
    /// result is for reading only.
    constexpr Layout broadcast_to(const Dims& shape) const;

    /// Shape, strides and contiguity for error messages: "shape (480, 640), strides (2560, 4), C order".
    std::string to_string() const;

    /// Equal shape, strides and item size. Compares all strides, including ignored ones.
    friend constexpr bool operator==(const Layout&, const Layout&) = default;

  private:
    constexpr bool is_contiguous_from(int first, int step) const;
    [[noreturn]] static void throw_bad_extents(const Dims& shape, std::int64_t itemsize);
    [[noreturn]] static void throw_bad_strides(const Dims& shape, const Dims& strides_bytes);

    Dims shape_;
    Dims strides_bytes_;
    std::int64_t itemsize_ = 1;
};

/// True if a copy of the bytes copies the elements: equal shape and item size, and both C- or both F-contiguous.
constexpr bool same_element_order(const Layout& a, const Layout& b) {
    if (a.shape() != b.shape() || a.itemsize() != b.itemsize()) return false;
    return (a.is_c_contiguous() && b.is_c_contiguous()) || (a.is_f_contiguous() && b.is_f_contiguous());
}

// ---- details ----

constexpr Layout Layout::contiguous(const Dims& shape, std::int64_t itemsize, Order order) {
    if (itemsize <= 0) throw_bad_extents(shape, itemsize);
    Layout layout;
    layout.shape_ = shape;
    layout.itemsize_ = itemsize;
    layout.strides_bytes_ = Dims::filled(shape.rank(), 0);
    std::int64_t stride = itemsize;
    for (int i = 0; i < shape.rank(); ++i) {
        const int axis = order == Order::F ? i : shape.rank() - 1 - i;
        if (shape[axis] < 0) throw_bad_extents(shape, itemsize);
        layout.strides_bytes_[axis] = stride;
        if (shape[axis] != 0 && __builtin_mul_overflow(stride, shape[axis], &stride))
            throw_bad_extents(shape, itemsize);
    }
    return layout;
}

constexpr Layout Layout::strided(const Dims& shape, const Dims& strides_bytes, std::int64_t itemsize) {
    if (shape.rank() != strides_bytes.rank()) throw_bad_strides(shape, strides_bytes);
    Layout layout = contiguous(shape, itemsize);
    // The furthest element on either side must be addressable as well.
    std::int64_t reach = itemsize;
    for (int i = 0; i < shape.rank(); ++i) {
        if (shape[i] <= 1) continue;
        if (strides_bytes[i] == INT64_MIN) throw_bad_strides(shape, strides_bytes);
        const std::int64_t stride = strides_bytes[i] < 0 ? -strides_bytes[i] : strides_bytes[i];
        std::int64_t step = 0;
        if (__builtin_mul_overflow(shape[i] - 1, stride, &step) || __builtin_add_overflow(reach, step, &reach))
            throw_bad_strides(shape, strides_bytes);
    }
    layout.strides_bytes_ = strides_bytes;
    return layout;
}

constexpr std::int64_t Layout::size() const {
    // An extent of 0 makes the product 0; the constructors checked the product of the others.
    std::int64_t count = 1;
    for (std::int64_t extent : shape_) count *= extent;
    return count;
}

constexpr ByteRange Layout::extent() const {
    ByteRange range{0, itemsize_};
    for (int i = 0; i < rank(); ++i) {
        if (shape_[i] == 0) return {};
        if (shape_[i] == 1) continue;
        const std::int64_t step = (shape_[i] - 1) * strides_bytes_[i];
        (step < 0 ? range.begin : range.end) += step;
    }
    return range;
}

constexpr Order Layout::resolved(Order order) const {
    if (order != Order::A) return order;
    return is_f_contiguous() && !is_c_contiguous() ? Order::F : Order::C;
}

constexpr Layout Layout::squeeze() const {
    Layout result;
    result.itemsize_ = itemsize_;
    int rank = 0;
    for (const std::int64_t extent : shape_) rank += extent != 1;
    result.shape_ = result.strides_bytes_ = Dims::filled(rank, 0);
    for (int from = 0, to = 0; from < this->rank(); ++from) {
        if (shape_[from] == 1) continue;
        result.shape_[to] = shape_[from];
        result.strides_bytes_[to++] = strides_bytes_[from];
    }
    return result;
}

constexpr bool Layout::is_contiguous_from(int first, int step) const {
    if (size() == 0) return true;
    std::int64_t expected = itemsize_;
    for (int i = 0, axis = first; i < rank(); ++i, axis += step) {
        if (shape_[axis] == 1) continue;
        if (strides_bytes_[axis] != expected) return false;
        expected *= shape_[axis];
    }
    return true;
}

constexpr bool Layout::is_c_contiguous() const { return is_contiguous_from(rank() - 1, -1); }
constexpr bool Layout::is_f_contiguous() const { return is_contiguous_from(0, 1); }

}  // namespace hsadrv

#include "devicearray/layout_axes.hpp"
#include "devicearray/layout_reshape.hpp"
