// Host memory described as an array: a pointer, an element type and a layout.
//
//     std::vector<float> image(480 * 640);
//     auto d_image = to_device(host_view(image, {480, 640}), stream);
//
// Borrows: the memory, until the transfer that the view is given to is complete. Values; nothing is
// allocated. Throws InvalidArgument where shape and range disagree in size.
#pragma once

#include <ranges>
#include <type_traits>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

/// Read-only host memory: what a transfer to the device takes.
struct HostView {
    const void* data;
    DType dtype;
    Layout layout;
};

/// Writable host memory: what a transfer from the device fills.
struct MutableHostView {
    void* data;
    DType dtype;
    Layout layout;

    operator HostView() const { return {data, dtype, layout}; }
};

/// std::vector, std::array, std::span, C arrays of one dimension, ... of array elements.
template <class R>
concept HostRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    ArrayElement<std::ranges::range_value_t<R>>;

namespace detail {
[[noreturn]] void throw_view_size(const Dims& shape, std::int64_t wanted, std::size_t given);

template <class R>
using HostViewOf =
    std::conditional_t<std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>, HostView,
                       MutableHostView>;
}  // namespace detail

/// The range's elements as an array of `shape`, counted in `order`.
template <HostRange R>
detail::HostViewOf<R> host_view(R&& range, const Dims& shape, Order order = Order::C) {
    using T = std::ranges::range_value_t<R>;
    const Layout layout = Layout::contiguous(shape, sizeof(T), order);
    if (layout.size() != static_cast<std::int64_t>(std::ranges::size(range)))
        detail::throw_view_size(shape, layout.size(), std::ranges::size(range));
    return {std::ranges::data(range), dtype_of<T>(), layout};
}

/// The range as an array of one dimension.
template <HostRange R>
detail::HostViewOf<R> host_view(R&& range) {
    return host_view(range, Dims{std::ranges::size(range)});
}

}  // namespace hsadrv
