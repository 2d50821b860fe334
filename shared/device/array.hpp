// Arrays in LDS for kernels: sized at compile time, or at launch through an LdsLayout.
//
//     auto tile = shared::array<float, 16, 16>();         // static: 1024 bytes
//     auto left = shared::dynamic_array<0>(layout, lds);  // `HSADRV_LDS unsigned char* lds` is a kernel argument
//     tile(y, x) = 1.0f;
//
// All work-items of the work-group share the elements, which are initially undefined; order accesses with barrier().
// The views are small values that point into LDS and are valid while the kernel runs.
#pragma once

#include "../lds_layout.hpp"
#include "kernel.hpp"

namespace hsadrv::shared {

/// The kernel argument that receives the LDS offset of the dynamic arrays.
using LdsPointer = HSADRV_LDS unsigned char*;

namespace detail {

/// Class types need a generic pointer, because their member functions take a generic `this`; other types keep the
/// address space, so that even unoptimised code uses ds_* instructions.
template <class T, bool IsClass = __is_class(T)>
struct Element {
    using reference = HSADRV_LDS T&;
    HSADRV_DEVICE static reference at(HSADRV_LDS T* data, uint32_t index) { return data[index]; }
};

template <class T>
struct Element<T, true> {
    using reference = T&;
    HSADRV_DEVICE static reference at(HSADRV_LDS T* data, uint32_t index) { return *(T*)(data + index); }
};

}  // namespace detail

/// T elements in LDS, the last index fastest. Indices are unchecked, unless HSADRV_CHECK_BOUNDS is defined before
/// including this header: an index out of range then traps (s_trap 2), which ends the dispatch with a queue error.
template <class T, class Extents>
class ArrayView {
  public:
    using value_type = T;
    using reference = typename detail::Element<T>::reference;
    static constexpr uint32_t rank = Extents::rank;

    HSADRV_DEVICE ArrayView(HSADRV_LDS T* data, Extents extents, uint32_t row_padding)
        : data_(data), extents_(extents), row_padding_(row_padding) {}

    template <class... Indices>
    HSADRV_DEVICE reference operator()(Indices... indices) const {
        static_assert(sizeof...(Indices) == rank, "one index for each dimension");
        uint32_t flat = 0, dimension = 0;
        ((flat = flat * pitch(dimension) + checked(indices, dimension), ++dimension), ...);
        return detail::Element<T>::at(data_, flat);
    }

    template <class Index>
    HSADRV_DEVICE reference operator[](Index index) const {
        static_assert(rank == 1, "use (i, j, ...) for several dimensions");
        return detail::Element<T>::at(data_, checked(index, 0));
    }

    HSADRV_DEVICE HSADRV_LDS T* data() const { return data_; }
    HSADRV_DEVICE uint32_t extent(uint32_t dimension) const { return extents_.extent(dimension); }
    /// Number of elements, excluding padding.
    HSADRV_DEVICE uint32_t size() const {
        uint32_t count = 1;
        for (uint32_t i = 0; i < rank; ++i) count *= extent(i);
        return count;
    }

  private:
    HSADRV_DEVICE uint32_t pitch(uint32_t dimension) const {
        return dimension + 1 == rank ? extent(dimension) + row_padding_ : extent(dimension);
    }

    template <class Index>
    HSADRV_DEVICE uint32_t checked(Index index, uint32_t dimension) const {
        static_assert(detail::is_integer<Index>, "indices are integers");
#if defined(HSADRV_CHECK_BOUNDS)
        if (static_cast<uint64_t>(index) >= extent(dimension)) __builtin_trap();  // negative indices become large
#endif
        (void)dimension;
        return static_cast<uint32_t>(index);
    }

    HSADRV_LDS T* data_;
    [[no_unique_address]] Extents extents_;
    uint32_t row_padding_;
};

/// A static array in the calling kernel. Each call in the source has a separate array, through the default argument
/// `Place`: do not give it.
template <class T, uint32_t... Extents, class Place = decltype([] {})>
HSADRV_DEVICE static ArrayView<T, StaticExtents<Extents...>> array() {
    static_assert(sizeof...(Extents) > 0 && __is_trivially_copyable(T));
    static HSADRV_LDS __attribute__((loader_uninitialized)) T storage[(Extents * ... * 1u)];
    return {(HSADRV_LDS T*)storage, {}, 0};
}

/// The array of a description, starting at `first`.
template <class T, class Extents>
HSADRV_DEVICE ArrayView<T, Extents> view(const LdsArray<T, Extents>& described, LdsPointer first) {
    return {(HSADRV_LDS T*)first, described.extents, described.row_padding};
}

/// Array I of a layout whose base is `lds`: the launch must receive the same layout in its `.lds` field.
template <uint32_t I, class... Arrays>
HSADRV_DEVICE auto dynamic_array(const LdsLayout<Arrays...>& layout, LdsPointer lds) {
    return view(layout.template array<I>(), lds + layout.offset_bytes(I));
}

}  // namespace hsadrv::shared
