// Indexed access to an array's elements, on the host and in kernels: a pointer, extents and strides as one value, with
// mdspan's names.
//
//     kernel: HSADRV_KERNEL void twice(hsadrv::NDSpan<float, 2> a) { a(get_global_id(1), get_global_id(0)) *= 2; }
//     host:   twice.launch(stream, {.grid = {a.shape()[1], a.shape()[0]}, …}, nd_span<float, 2>(a.transpose()));
//
// Freestanding: compiles for the host and, with clang, for amdgcn, with the same layout in both. A kernel takes it as
// one argument, for any strides. Strides count elements, as in mdspan. Indices are not checked. Values: any thread may
// use any object. Borrows: the memory. The result of nd_span() keeps the array's memory alive as well: a launch leaves
// a reference with the stream until the kernel is complete. A plain NDSpan does not: keep the array until then, or give
// array.keep_alive() to Stream::keep_alive. Errors: nd_span() throws InvalidArgument, naming both sides.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if !defined(__AMDGCN__)
#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <version>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"
#include "hsadrv/kernel_args.hpp"
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif
#endif

// A call in a kernel needs a stack frame in scratch memory.
#define HSADRV_SPAN_INLINE [[gnu::always_inline]] constexpr

namespace hsadrv {

template <class T, int Rank>
class NDSpan {
    static_assert(Rank >= 0 && Rank <= 64, "an array has at most 64 dimensions");

  public:
    using element_type = T;
    using index_type = int64_t;
    using rank_type = int;
    using reference = T&;
    using data_handle_type = T*;

    constexpr NDSpan() = default;
    /// `Rank` extents, and as many strides in elements, which may be negative or 0.
    HSADRV_SPAN_INLINE NDSpan(T* data, const int64_t* extents, const int64_t* strides) : data_(data) {
        for (int i = 0; i < Rank; ++i) {
            extents_[i] = extents[i];
            strides_[i] = strides[i];
        }
    }
    /// Converts a span for writing to one for reading.
    template <class U>
        requires(!__is_same(T, U) && __is_same(T, const U))
    HSADRV_SPAN_INLINE NDSpan(const NDSpan<U, Rank>& other) : data_(other.data_handle()) {
        for (int i = 0; i < Rank; ++i) {
            extents_[i] = other.extent(i);
            strides_[i] = other.stride(i);
        }
    }

    static constexpr int rank() { return Rank; }
    HSADRV_SPAN_INLINE int64_t extent(int axis) const { return extents_[axis]; }
    /// Elements between neighbours along the axis.
    HSADRV_SPAN_INLINE int64_t stride(int axis) const { return strides_[axis]; }
    /// Number of elements; 1 for rank 0.
    HSADRV_SPAN_INLINE int64_t size() const {
        int64_t count = 1;
        for (int i = 0; i < Rank; ++i) count *= extents_[i];
        return count;
    }
    HSADRV_SPAN_INLINE bool empty() const { return size() == 0; }
    /// The first element's address.
    HSADRV_SPAN_INLINE T* data_handle() const { return data_; }

    /// One index for each axis, from 0.
    template <class... Indices>
    HSADRV_SPAN_INLINE T& operator()(Indices... indices) const {
        static_assert(sizeof...(Indices) == Rank, "one index for each axis");
        int64_t offset = 0;
        [[maybe_unused]] int axis = 0;
        ((offset += static_cast<int64_t>(indices) * strides_[axis++]), ...);
        return data_[offset];
    }
    HSADRV_SPAN_INLINE T& operator[](int64_t index) const {
        static_assert(Rank == 1, "use (i, j, …) for several axes");
        return data_[index * strides_[0]];
    }

    static constexpr bool is_always_strided() { return true; }
    static constexpr bool is_strided() { return true; }
    /// True if the elements fill a contiguous range, in any order, each place once.
    constexpr bool is_exhaustive() const {
        if (empty()) return true;
        uint64_t left = 0;
        for (int i = 0; i < Rank; ++i) left |= extents_[i] != 1 ? uint64_t{1} << i : 0;
        for (int64_t expected = 1; left != 0;) {
            const int axis = axis_of_stride(left, expected);
            if (axis < 0) return false;
            left &= ~(uint64_t{1} << axis);
            expected *= extents_[axis];
        }
        return true;
    }

#if defined(__cpp_lib_mdspan)
    using mdspan_type = std::mdspan<T, std::dextents<int64_t, Rank>, std::layout_stride>;
    /// The same elements. Throws InvalidArgument for strides that mdspan does not have: 0, negative, or with two
    /// indices for one element.
    mdspan_type to_mdspan() const;
#endif

  private:
    constexpr int axis_of_stride(uint64_t among, int64_t wanted) const {
        for (int i = 0; i < Rank; ++i) {
            if ((among >> i & 1u) != 0 && (strides_[i] == wanted || strides_[i] == -wanted)) return i;
        }
        return -1;
    }

    static constexpr unsigned slots_ = Rank > 0 ? Rank : 1;  // C++ has no empty arrays
    T* data_ = nullptr;
    int64_t extents_[slots_] = {};
    int64_t strides_[slots_] = {};
};

// The kernel reads from the kernarg segment what the host wrote: both compilers must agree on these sizes.
static_assert(sizeof(NDSpan<float, 0>) == 24 && sizeof(NDSpan<char, 1>) == 24 && sizeof(NDSpan<double, 3>) == 56);
static_assert(sizeof(NDSpan<float, 8>) == 8 + 8 * 8 + 8 * 8 && alignof(NDSpan<float, 8>) == 8);
static_assert(__is_trivially_copyable(NDSpan<float, 2>) && __is_standard_layout(NDSpan<float, 2>));

#if !defined(__AMDGCN__)

/// An NDSpan and a reference to its memory, which a launch leaves with its stream.
template <class T, int Rank>
class HeldSpan : public NDSpan<T, Rank> {
  public:
    /// `agent`: as in HeldValue.
    HeldSpan(const NDSpan<T, Rank>& span, std::shared_ptr<const void> keep_alive, std::uint64_t agent = 0)
        : NDSpan<T, Rank>(span), keep_alive_(std::move(keep_alive)), agent_(agent) {}
    // Moves are copies: the address must not outlive the reference.
    HeldSpan(const HeldSpan&) = default;
    HeldSpan& operator=(const HeldSpan&) = default;

    const std::shared_ptr<const void>& keep_alive() const { return keep_alive_; }

    friend HeldValue<NDSpan<T, Rank>> kernel_argument(const HeldSpan& span) {
        return {span, span.keep_alive_, span.agent_, span.data_handle()};
    }

  private:
    std::shared_ptr<const void> keep_alive_;
    std::uint64_t agent_;
};

namespace detail {

/// A layout's extents and strides for an NDSpan. Throws InvalidArgument.
struct SpanParts {
    Dims extents, strides;
};
SpanParts span_parts(const DType& wanted, int rank, std::size_t alignment, const void* data, const DType& dtype,
                     const Layout& layout);
/// The strides for an mdspan; see NDSpan::to_mdspan.
Dims mdspan_strides(const Dims& extents, const Dims& strides);

template <class T, class Array>
T* span_data(const Array& array) {
    if constexpr (std::is_const_v<T>) {
        return static_cast<T*>(array.data());
    } else if constexpr (requires { array.writable_data(); }) {
        return static_cast<T*>(array.writable_data());
    } else {
        static_assert(!std::is_const_v<std::remove_pointer_t<decltype(array.data())>>,
                      "the elements are read-only: use nd_span<const T, Rank>");
        return static_cast<T*>(array.data());
    }
}

template <class Array>
concept KeepsAlive = requires(const Array& array) {
    { array.keep_alive() } -> std::convertible_to<std::shared_ptr<const void>>;
};

}  // namespace detail

/// The elements of a DeviceNDArray, a HostNDArray or any type with data(), dtype() and layout(), at the addresses that
/// data() gives; for kernels pass a MappedNDArray's device(). Returns a HeldSpan if the array has keep_alive(), else an
/// NDSpan. Throws InvalidArgument for another element type or rank, strides that are not multiples of the element's
/// size, a misaligned first element, and a non-const T if the array is read-only.
template <ArrayElement T, int Rank, class Array>
    requires requires(const Array& array) { array.data(), array.dtype(), array.layout(); }
auto nd_span(const Array& array) {
    const auto [extents, strides] =
        detail::span_parts(dtype_of<T>(), Rank, alignof(T), array.data(), array.dtype(), array.layout());
    const NDSpan<T, Rank> span(detail::span_data<T>(array), extents.begin(), strides.begin());
    if constexpr (detail::KeepsAlive<Array>) {
        if constexpr (requires { array.agent().native().handle; }) {
            // A MappedNDArray's data() is the host's address, which agents cannot use.
            const bool of_host = requires { array.host(); };
            return HeldSpan<T, Rank>(span, array.keep_alive(), of_host ? 0 : array.agent().native().handle);
        } else {
            return HeldSpan<T, Rank>(span, array.keep_alive());
        }
    } else {
        return span;
    }
}

#if defined(__cpp_lib_mdspan)
template <class T, int Rank>
typename NDSpan<T, Rank>::mdspan_type NDSpan<T, Rank>::to_mdspan() const {
    const Dims strides = detail::mdspan_strides(Dims(std::span<const int64_t>(extents_, Rank)),
                                                Dims(std::span<const int64_t>(strides_, Rank)));
    std::array<int64_t, Rank> extents_array{}, strides_array{};
    for (int i = 0; i < Rank; ++i) {
        extents_array[static_cast<std::size_t>(i)] = extents_[i];
        strides_array[static_cast<std::size_t>(i)] = strides[i];
    }
    using Extents = std::dextents<int64_t, Rank>;
    return mdspan_type(data_, std::layout_stride::mapping<Extents>(Extents(extents_array), strides_array));
}
#endif

#endif  // not __AMDGCN__

}  // namespace hsadrv

#undef HSADRV_SPAN_INLINE
