// Arrays in LDS for kernels: sized at compile time, or at launch through an LdsLayout.
//
//     auto tile = shared::array<float, 16, 16>();         // static: 1024 bytes for the kernel's whole duration
//     auto left = shared::dynamic_array<0>(layout, lds);  // `HSADRV_LDS unsigned char* lds` is a kernel argument
//     tile(y, x) = 1.0f;
//
// All work-items of the work-group see the same elements, which begin undefined; order accesses with
// barrier(). The views are small values that point into LDS and are valid as long as the kernel runs.
#pragma once

#include "../lds_layout.hpp"
#include "kernel.hpp"

namespace hsadrv::shared {

/// The kernel argument behind which the launch places the dynamic arrays.
using LdsPointer = HSADRV_LDS unsigned char*;

template <uint32_t... Extents>
struct StaticExtents {
    static constexpr uint32_t rank = sizeof...(Extents);
    HSADRV_DEVICE static constexpr uint32_t extent(uint32_t dimension) {
        constexpr uint32_t extents[] = {Extents...};
        return extents[dimension];
    }
};

template <uint32_t Rank>
struct DynamicExtents {
    static constexpr uint32_t rank = Rank;
    uint32_t extents[Rank];
    HSADRV_DEVICE constexpr uint32_t extent(uint32_t dimension) const { return extents[dimension]; }
};

namespace detail {

/// Class types have member functions, which take a generic `this`; plain ones keep the address space, so that
/// even unoptimised code uses ds_* instructions.
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

/// T elements in LDS, the last index fastest. Indices are not checked.
template <class T, class Extents>
class ArrayView {
  public:
    using reference = typename detail::Element<T>::reference;

    HSADRV_DEVICE ArrayView(HSADRV_LDS T* data, Extents extents) : data_(data), extents_(extents) {}

    template <class... Indices>
    HSADRV_DEVICE reference operator()(Indices... indices) const {
        static_assert(sizeof...(Indices) == Extents::rank, "one index for each dimension");
        uint32_t flat = 0, dimension = 0;
        ((flat = flat * extents_.extent(dimension++) + static_cast<uint32_t>(indices)), ...);
        return detail::Element<T>::at(data_, flat);
    }

    HSADRV_DEVICE reference operator[](uint32_t index) const {
        static_assert(Extents::rank == 1, "use (i, j, ...) where there are several dimensions");
        return detail::Element<T>::at(data_, index);
    }

    HSADRV_DEVICE HSADRV_LDS T* data() const { return data_; }
    HSADRV_DEVICE uint32_t extent(uint32_t dimension) const { return extents_.extent(dimension); }

  private:
    HSADRV_LDS T* data_;
    [[no_unique_address]] Extents extents_;
};

/// A static array in the kernel that calls it. Each place in the source that calls it has its own array (that
/// is what `Place` is for: do not give it).
template <class T, uint32_t... Extents, class Place = decltype([] {})>
HSADRV_DEVICE static ArrayView<T, StaticExtents<Extents...>> array() {
    static_assert(sizeof...(Extents) > 0 && __is_trivially_copyable(T));
    static HSADRV_LDS __attribute__((loader_uninitialized)) T storage[(Extents * ... * 1u)];
    return {(HSADRV_LDS T*)storage, {}};
}

/// One described array whose first byte is `first`.
template <class T, uint32_t Rank>
HSADRV_DEVICE ArrayView<T, DynamicExtents<Rank>> view(const LdsArray<T, Rank>& described, LdsPointer first) {
    DynamicExtents<Rank> extents;
    for (uint32_t i = 0; i < Rank; ++i) extents.extents[i] = described.extents[i];
    return {(HSADRV_LDS T*)first, extents};
}

/// Array I of a layout whose base is `lds`: the launch got the same layout in its `.lds` field.
template <uint32_t I, class... Arrays>
HSADRV_DEVICE auto dynamic_array(const LdsLayout<Arrays...>& layout, LdsPointer lds) {
    return view(layout.template array<I>(), lds + layout.offset_bytes(I));
}

}  // namespace hsadrv::shared
