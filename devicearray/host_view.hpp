// Host memory described as an array: a pointer, an element type and a layout.
//
//     std::vector<float> image(480 * 640);
//     auto d_image = to_device(host_view(image, {480, 640}), stream);
//     int table[3][4];  host_view(table);                                 // shape (3, 4)
//
// Borrows: the memory, until the transfer that uses the view is complete. Values; nothing is allocated. Throws
// InvalidArgument if the shape and the range have different sizes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

/// Read-only host memory: the source of a transfer to the device.
struct HostView {
    const void* data;
    DType dtype;
    Layout layout;
};

/// Writable host memory: the destination of a transfer from the device.
struct MutableHostView {
    void* data;
    DType dtype;
    Layout layout;

    operator HostView() const { return {data, dtype, layout}; }
};

namespace detail {
/// The element type and extents of nested arrays, C's and std::array.
template <class T>
struct Nested {
    using Element = T;
    static constexpr Dims with_outer(Dims outer) { return outer; }
};
template <class T, std::size_t N>
struct NestedArray {
    using Element = typename Nested<T>::Element;
    static constexpr Dims with_outer(const Dims& outer) {
        Dims all = Dims::filled(outer.rank() + 1, N);
        for (int i = 0; i < outer.rank(); ++i) all[i] = outer[i];
        return Nested<T>::with_outer(all);
    }
};
template <class T, std::size_t N>
struct Nested<T[N]> : NestedArray<T, N> {};
template <class T, std::size_t N>
struct Nested<std::array<T, N>> : NestedArray<T, N> {};
}  // namespace detail

/// std::vector, std::array, std::span, C arrays and similar ranges of array elements, or of arrays of them.
template <class R>
concept HostRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                    ArrayElement<typename detail::Nested<std::ranges::range_value_t<R>>::Element>;

namespace detail {
template <class R>
using ElementOf = typename Nested<std::ranges::range_value_t<R>>::Element;

/// The range's extent, and those of nested arrays.
template <class R>
Dims nested_shape(const R& range) {
    using Value = std::ranges::range_value_t<R>;
    static_assert(sizeof(Value) % sizeof(ElementOf<R>) == 0, "nested arrays must have no gaps");
    return Nested<Value>::with_outer(Dims{std::ranges::size(range)});
}

[[noreturn]] void throw_view_size(const Dims& shape, std::int64_t wanted, std::size_t given);

template <class R>
using HostViewOf = std::conditional_t<std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>,
                                      HostView, MutableHostView>;
}  // namespace detail

/// The range's elements as an array of `shape`, counted in `order`.
template <HostRange R>
detail::HostViewOf<R> host_view(R&& range, const Dims& shape, Order order = Order::C) {
    using T = detail::ElementOf<R>;
    const Layout layout = Layout::contiguous(shape, sizeof(T), order);
    const std::size_t elements = std::ranges::size(range) * (sizeof(std::ranges::range_value_t<R>) / sizeof(T));
    if (layout.size() != static_cast<std::int64_t>(elements)) detail::throw_view_size(shape, layout.size(), elements);
    return {std::ranges::data(range), dtype_of<T>(), layout};
}

/// The range as an array of one dimension, plus one for each level of nested arrays.
template <HostRange R>
detail::HostViewOf<R> host_view(R&& range) {
    return host_view(range, detail::nested_shape(range));
}

}  // namespace hsadrv
