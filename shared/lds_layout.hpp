// The layout of several arrays in a work-group's LDS (HSA's group segment): one constexpr object sizes the launch on
// the host and indexes in the kernel, so the two cannot disagree.
//
//     constexpr auto tiles(uint32_t n) {
//         return lds_layout(lds_array<float>(n, n).conflict_free(), lds_array<int, 64>());
//     }
//     host:   kernel.launch(stream, {.grid = g, .workgroup = w, .lds = tiles(16)}, ...);
//     kernel: auto tile = shared::dynamic_array<0>(tiles(16), lds);      // shared/device/array.hpp
//
// Freestanding: compiles for the host and, with clang, for amdgcn; needs no library. Values only: any thread may use
// any object. Nothing here allocates or throws. Sizes are uint32_t because LDS addresses are 32 bits wide; overflowing
// arithmetic saturates at `lds_overflow`, a size that no group segment has, so every launch refuses it.
#pragma once

#include "cpp20.hpp"

#include <stdint.h>

namespace hsadrv::shared {

/// The size of a layout that exceeds 32 bits.
inline constexpr uint32_t lds_overflow = 0xffffffffu;

/// Maximum number of arrays in one layout; for more use a struct or an array of arrays.
inline constexpr uint32_t max_lds_arrays = 16;

/// The alignment of a group segment given as plain bytes: that of the widest LDS access, ds_read_b128.
inline constexpr uint32_t lds_default_align_bytes = 16;

namespace detail {

constexpr uint32_t add_or_overflow(uint32_t a, uint32_t b) { return a > lds_overflow - b ? lds_overflow : a + b; }

constexpr uint32_t mul_or_overflow(uint32_t a, uint32_t b) {
    const uint64_t product = uint64_t{a} * b;
    return product > lds_overflow ? lds_overflow : static_cast<uint32_t>(product);
}

/// `align` is a power of two.
constexpr uint32_t align_up_or_overflow(uint32_t value, uint32_t align) {
    const uint32_t bumped = add_or_overflow(value, align - 1);
    return bumped == lds_overflow ? lds_overflow : bumped & ~(align - 1);
}

/// Signed and unsigned integers, but not bool. Freestanding code has no <type_traits>; integer division turns 1 / 2
/// into 0.
template <class T>
inline constexpr bool is_integer = requires { requires(T(1) / T(2) == T(0)); };

/// Any integer as an extent or a size in bytes; negative and too large values overflow.
template <class Integer>
constexpr uint32_t narrow_or_overflow(Integer value) {
    static_assert(is_integer<Integer>, "extents and sizes are integers");
    if constexpr (Integer(-1) < Integer(0)) {
        if (value < 0) return lds_overflow;
    }
    return static_cast<uint64_t>(value) > lds_overflow ? lds_overflow : static_cast<uint32_t>(value);
}

/// A parameter whose type is deduced from another one: atomic_add(&counts[i], 1) for uint64_t counts.
template <class T>
struct Same {
    using type = T;
};

/// A tuple, which freestanding code lacks.
template <class... Elements>
struct Pack {};

template <class Head, class... Tail>
struct Pack<Head, Tail...> {
    Head head;
    Pack<Tail...> tail;
};

template <uint32_t I, class Head, class... Tail>
constexpr const auto& get(const Pack<Head, Tail...>& pack) {
    if constexpr (I == 0) {
        return pack.head;
    } else {
        return get<I - 1>(pack.tail);
    }
}

}  // namespace detail

/// A shape known at compile time: it takes no space, and indexing multiplies by constants.
template <uint32_t... Extents>
struct StaticExtents {
    static constexpr uint32_t rank = sizeof...(Extents);
    static constexpr uint32_t extent(uint32_t dimension) {
        constexpr uint32_t extents[] = {Extents...};
        return extents[dimension];
    }
};

/// A shape known at launch.
template <uint32_t Rank>
struct DynamicExtents {
    static constexpr uint32_t rank = Rank;
    uint32_t extents[Rank];
    constexpr uint32_t extent(uint32_t dimension) const { return extents[dimension]; }
};

/// Width of an LDS bank (ISA manuals, "Local Data Share").
inline constexpr uint32_t lds_bank_bytes = 4;

/// Elements of padding for rows of `extent` elements of T, such that access down a column has no more bank conflicts
/// than along a row. That is none for elements of up to 16 bytes; larger ones are read in several accesses, which
/// conflict along a row as well. The pitch becomes an odd multiple of the largest power of two that divides the element
/// size (at least a bank's 4 bytes).
template <class T>
constexpr uint32_t conflict_free_padding(uint32_t extent) {
    constexpr uint32_t all_banks_bytes = 128;
    uint32_t unit = lds_bank_bytes;
    while (unit < all_banks_bytes && sizeof(T) % (2 * unit) == 0) unit *= 2;
    if (unit == all_banks_bytes) return 0;  // every element starts in the first bank
    for (uint32_t padding = 0; padding < 2 * lds_bank_bytes; ++padding) {
        const uint64_t pitch_bytes = (uint64_t{extent} + padding) * sizeof(T);
        if (pitch_bytes % unit == 0 && pitch_bytes / unit % 2 == 1) return padding;
    }
    return 0;
}

/// One array of a layout: element type, shape (last index fastest), padding, alignment. Extents may be 0.
template <class T, class Extents>
struct LdsArray {
    static_assert(Extents::rank > 0, "an LDS array has at least one dimension");
    static_assert(__is_trivially_copyable(T), "LDS holds plain bytes: no constructor or destructor runs there");

    using value_type = T;
    static constexpr uint32_t rank = Extents::rank;

    [[no_unique_address]] Extents extents;
    uint32_t align_bytes = alignof(T);
    uint32_t row_padding = 0;  ///< unused elements after each row (each run of the last index)

    /// The same array, aligned to at least `Align` bytes.
    template <uint32_t Align>
    constexpr LdsArray aligned() const {
        static_assert(Align != 0 && (Align & (Align - 1)) == 0, "alignments are powers of two");
        LdsArray copy = *this;
        if (copy.align_bytes < Align) copy.align_bytes = Align;
        return copy;
    }

    /// The same array with `elements` elements of padding after each row.
    template <class Integer>
    constexpr LdsArray padded(Integer elements) const {
        static_assert(rank > 1, "an array of one dimension has no rows to pad");
        LdsArray copy = *this;
        copy.row_padding = detail::narrow_or_overflow(elements);
        return copy;
    }

    /// The same array, padded so that columns are read as fast as rows: see conflict_free_padding().
    constexpr LdsArray conflict_free() const { return padded(conflict_free_padding<T>(extents.extent(rank - 1))); }

    /// From one row to the next, in elements.
    constexpr uint32_t row_pitch() const { return detail::add_or_overflow(extents.extent(rank - 1), row_padding); }

    /// Number of elements, excluding padding.
    constexpr uint32_t size() const { return product(extents.extent(rank - 1)); }

    /// Size including padding.
    constexpr uint32_t size_bytes() const {
        return size() == 0 ? 0 : detail::mul_or_overflow(product(row_pitch()), sizeof(T));
    }

  private:
    constexpr uint32_t product(uint32_t last) const {
        // A zero extent makes the array empty, whatever the others.
        for (uint32_t i = 0; i < rank; ++i) {
            if (extents.extent(i) == 0) return 0;
        }
        uint32_t count = last;
        for (uint32_t i = 0; i + 1 < rank; ++i) count = detail::mul_or_overflow(count, extents.extent(i));
        return count;
    }
};

/// An array of `extents` elements of T, the last index fastest.
template <class T, class... Integers>
    requires(sizeof...(Integers) > 0)  //
constexpr LdsArray<T, DynamicExtents<sizeof...(Integers)>> lds_array(Integers... extents) {
    return {{{detail::narrow_or_overflow(extents)...}}};
}

/// An array whose shape is known at compile time: lds_array<float, 16, 16>().
template <class T, uint32_t... Extents>
    requires(sizeof...(Extents) > 0)  //
constexpr LdsArray<T, StaticExtents<Extents...>> lds_array() {
    return {};
}

/// Several arrays, one after another, each aligned. Offsets count from a base aligned to align_bytes().
template <class... Arrays>
class LdsLayout {
    static_assert(sizeof...(Arrays) > 0 && sizeof...(Arrays) <= max_lds_arrays);

  public:
    static constexpr uint32_t count = sizeof...(Arrays);

    constexpr explicit LdsLayout(Arrays... arrays) : arrays_(pack(arrays...)) {
        uint32_t index = 0;
        ((append(arrays, index++)), ...);
    }

    /// Bytes from the base to the first byte of array `index`, which is less than `count`.
    constexpr uint32_t offset_bytes(uint32_t index) const { return offsets_bytes_[index]; }
    constexpr uint32_t size_bytes() const { return size_bytes_; }
    constexpr uint32_t align_bytes() const { return align_bytes_; }
    constexpr bool overflowed() const { return size_bytes_ == lds_overflow; }

    template <uint32_t I>
    constexpr const auto& array() const {
        static_assert(I < count, "the array index exceeds the layout's arrays");
        return detail::get<I>(arrays_);
    }

  private:
    template <class Head, class... Tail>
    static constexpr detail::Pack<Head, Tail...> pack(Head head, Tail... tail) {
        return {head, pack(tail...)};
    }
    static constexpr detail::Pack<> pack() { return {}; }

    template <class Array>
    constexpr void append(const Array& array, uint32_t index) {
        offsets_bytes_[index] = detail::align_up_or_overflow(size_bytes_, array.align_bytes);
        size_bytes_ = detail::add_or_overflow(offsets_bytes_[index], array.size_bytes());
        if (array.align_bytes > align_bytes_) align_bytes_ = array.align_bytes;
    }

    detail::Pack<Arrays...> arrays_;
    uint32_t offsets_bytes_[count] = {};
    uint32_t size_bytes_ = 0;
    uint32_t align_bytes_ = 1;
};

template <class... Arrays>
constexpr LdsLayout<Arrays...> lds_layout(Arrays... arrays) {
    return LdsLayout<Arrays...>(arrays...);
}

/// The LDS that a launch must reserve, without types: the `.lds` field. Made from a layout, or from plain bytes. The
/// i-th `dynamic_shared_pointer` argument of the kernel receives offsets_bytes[i], counted from the start of the
/// dynamic part.
struct LdsDemand {
    uint32_t size_bytes = 0;
    uint32_t align_bytes = 1;
    uint32_t count = 0;
    uint32_t offsets_bytes[max_lds_arrays] = {};

    constexpr LdsDemand() = default;

    template <class... Arrays>
    constexpr LdsDemand(const LdsLayout<Arrays...>& layout)
        : size_bytes(layout.size_bytes()), align_bytes(layout.align_bytes()), count(layout.count) {
        for (uint32_t i = 0; i < count; ++i) offsets_bytes[i] = layout.offset_bytes(i);
    }

    /// One block of `bytes` bytes, aligned for every LDS access.
    template <class Integer>
        requires(detail::is_integer<Integer>)
    constexpr LdsDemand(Integer bytes)
        : size_bytes(detail::narrow_or_overflow(bytes)), align_bytes(lds_default_align_bytes), count(1) {}
};

/// The start of the dynamic part of a work-group's LDS, and the end of all of it.
struct LdsPlacement {
    uint32_t base_bytes;
    uint32_t total_bytes;
};

/// Places `demand` after the `fixed_bytes` that the kernel's static arrays take (`.group_segment_fixed_size`).
constexpr LdsPlacement place_after(uint32_t fixed_bytes, const LdsDemand& demand) {
    const uint32_t base = detail::align_up_or_overflow(fixed_bytes, demand.align_bytes);
    return {base, detail::add_or_overflow(base, demand.size_bytes)};
}

}  // namespace hsadrv::shared
