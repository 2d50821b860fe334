// Layout::reshape: finds strides that give the same elements under another shape, if they exist. Included by
// layout.hpp.
#pragma once

#include <array>

#include "devicearray/layout.hpp"

namespace hsadrv {
namespace detail {

[[noreturn]] void throw_no_reshape(const Layout& layout, const Dims& shape);
[[noreturn]] void throw_reshape_copies(const Layout& layout, const Dims& shape, Order order);

/// Replaces a -1 by the extent that makes the sizes equal.
constexpr Dims resolved_shape(const Dims& wanted, const Layout& from) {
    Dims shape = wanted;
    std::int64_t known = 1;
    int unknown = -1;
    bool valid = true;
    for (int i = 0; i < shape.rank() && valid; ++i) {
        if (shape[i] == -1 && unknown == -1) {
            unknown = i;
        } else {
            valid = shape[i] >= 0 && !__builtin_mul_overflow(known, shape[i], &known);
        }
    }
    if (valid && unknown != -1) {
        valid = known != 0 && from.size() % known == 0;
        if (valid) shape[unknown] = from.size() / known;
    } else {
        valid = valid && known == from.size();
    }
    if (!valid) throw_no_reshape(from, wanted);
    return shape;
}

/// Axes that together form one line of `extent` elements at distance `stride_bytes`.
struct ReshapeRun {
    std::int64_t extent, stride_bytes;
};

struct ReshapeRuns {
    std::array<ReshapeRun, Dims::max_rank> list{};
    int count = 0;
};

/// The i-th axis, counted from the fastest.
constexpr int axis_at(int i, int rank, Order order) { return order == Order::F ? i : rank - 1 - i; }

/// The layout as the fewest such lines, the fastest first.
constexpr ReshapeRuns runs_of(const Layout& layout, Order order) {
    ReshapeRuns runs;
    for (int i = 0; i < layout.rank(); ++i) {
        const int axis = axis_at(i, layout.rank(), order);
        const std::int64_t extent = layout.shape()[axis], stride = layout.strides_bytes()[axis];
        if (extent == 1) continue;
        std::int64_t next = 0;
        ReshapeRun* const last = runs.count ? &runs.list[static_cast<std::size_t>(runs.count - 1)] : nullptr;
        if (last && !__builtin_mul_overflow(last->extent, last->stride_bytes, &next) && next == stride) {
            last->extent *= extent;
        } else {
            runs.list[static_cast<std::size_t>(runs.count++)] = {extent, stride};
        }
    }
    return runs;
}

/// Strides for `shape`, or false. A run must be cut into whole axes: an axis that crossed its end would need two
/// strides.
constexpr bool find_strides(const Layout& layout, const Dims& shape, Order order, Dims& strides) {
    ReshapeRuns runs = runs_of(layout, order);
    int current = 0;
    std::int64_t next = layout.itemsize();  // for axes of one element, where any value will do
    for (int i = 0; i < shape.rank(); ++i) {
        const int axis = axis_at(i, shape.rank(), order);
        strides[axis] = next;
        if (shape[axis] == 1) continue;
        ReshapeRun& run = runs.list[static_cast<std::size_t>(current)];
        if (run.extent % shape[axis] != 0) return false;
        strides[axis] = run.stride_bytes;
        run.extent /= shape[axis];
        if (__builtin_mul_overflow(run.stride_bytes, shape[axis], &next)) next = layout.itemsize();
        run.stride_bytes = next;
        if (run.extent == 1) ++current;
    }
    return true;
}

}  // namespace detail

constexpr Layout Layout::reshape(const Dims& shape, Order order) const {
    const Dims wanted = detail::resolved_shape(shape, *this);
    const Order counted = resolved(order);
    if (size() == 0) return contiguous(wanted, itemsize_, counted);
    Dims strides = Dims::filled(wanted.rank(), 0);
    if (detail::find_strides(*this, wanted, counted, strides)) return strided(wanted, strides, itemsize_);
    detail::throw_reshape_copies(*this, wanted, counted);
}

constexpr Layout Layout::ravel(Order order) const { return reshape(Dims{size()}, order); }

}  // namespace hsadrv
