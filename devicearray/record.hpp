// Structs as record types: their fields' names, types and offsets, known at compile time.
//
//     struct Particle { float position[3]; double mass; std::int32_t id; };
//     HSADRV_RECORD(Particle, position, mass, id);                 // at global scope
//     static_assert(dtype_of<Particle>().find_field("mass")->offset == 16);
//
// Members may be scalars, arrays (C's and std::array, of any rank), and structs with their own HSADRV_RECORD. Members
// that are not listed are padding. The type is aligned if the struct is, as with NumPy's align=True; it equals the
// NumPy type with the same names, formats, offsets and item size. Values: nothing is allocated, nothing throws; a
// struct that cannot be a record does not compile.
#pragma once

#include <array>
#include <cstddef>

#include "devicearray/dtype.hpp"

namespace hsadrv {
namespace detail {

template <class T>
struct FieldTypeOf {
    static constexpr DType value = dtype_of<T>();
};

/// The shape of an array of `outer` arrays of shape `inner`.
constexpr Dims joined(std::int64_t outer, const Dims& inner) {
    Dims all = Dims::filled(inner.rank() + 1, outer);
    for (int i = 0; i < inner.rank(); ++i) all[i + 1] = inner[i];
    return all;
}

template <class Element, std::size_t N>
struct SubarrayOf {
    static constexpr DType element = FieldTypeOf<Element>::value;
    static constexpr DType base = element.base();
    static constexpr Structure structure{
        .base = &base, .shape = joined(N, element.subarray_shape()), .alignment = base.alignment()};
    static constexpr DType value = DType::unchecked(Kind::raw, element.itemsize() * N, &structure);
};

template <class Element, std::size_t N>
struct FieldTypeOf<Element[N]> : SubarrayOf<Element, N> {};
template <class Element, std::size_t N>
struct FieldTypeOf<std::array<Element, N>> : SubarrayOf<Element, N> {};

template <std::size_t N>
constexpr bool names_differ(const std::array<Field, N>& fields) {
    for (std::size_t i = 0; i < N; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (fields[i].name == fields[j].name) return false;
        }
    }
    return true;
}

/// The alignment that makes all fields and the record's size aligned; 0 if one is not.
template <std::size_t N>
constexpr std::size_t record_alignment(const std::array<Field, N>& fields, std::size_t itemsize) {
    std::size_t most = 1;
    for (const Field& field : fields) {
        if (field.offset % field.type.alignment() != 0) return 0;
        if (field.type.alignment() > most) most = field.type.alignment();
    }
    return itemsize % most == 0 ? most : 0;
}

template <class T, std::size_t N>
constexpr Structure record_structure(const std::array<Field, N>& fields) {
    const std::size_t alignment = record_alignment(fields, sizeof(T));
    return {.fields = fields, .alignment = alignment ? alignment : 1, .aligned = alignment == alignof(T)};
}

}  // namespace detail
}  // namespace hsadrv

#define HSADRV_RECORD(type, ...)                                                                                 \
    template <>                                                                                                  \
    struct hsadrv::DTypeOf<type> {                                                                               \
        using Struct = type;                                                                                     \
        static_assert(std::is_standard_layout_v<Struct> && std::is_trivially_copyable_v<Struct>,                 \
                      "an array's elements are copied as bytes");                                                \
        static constexpr std::array fields{HSADRV_DETAIL_EACH(HSADRV_DETAIL_FIELD, __VA_ARGS__)};                \
        static_assert(hsadrv::detail::names_differ(fields), "a member is named twice");                          \
        static constexpr hsadrv::detail::Structure structure = hsadrv::detail::record_structure<Struct>(fields); \
        static constexpr hsadrv::DType value =                                                                   \
            hsadrv::DType::unchecked(hsadrv::Kind::raw, sizeof(Struct), &structure);                             \
    }

// ---- details ----

#define HSADRV_DETAIL_FIELD(member)                                                                         \
    hsadrv::Field {                                                                                         \
        #member, hsadrv::detail::FieldTypeOf<decltype(Struct::member)>::value, offsetof(Struct, member), {} \
    }

// Applies a macro to each argument, up to 256 of them, by repeated rescanning.
#define HSADRV_DETAIL_EACH(macro, ...) HSADRV_DETAIL_EXPAND(HSADRV_DETAIL_STEP(macro, __VA_ARGS__))
#define HSADRV_DETAIL_STEP(macro, first, ...) \
    macro(first) __VA_OPT__(, HSADRV_DETAIL_AGAIN HSADRV_DETAIL_PARENS(macro, __VA_ARGS__))
#define HSADRV_DETAIL_AGAIN() HSADRV_DETAIL_STEP
#define HSADRV_DETAIL_PARENS ()
#define HSADRV_DETAIL_EXPAND(...) \
    HSADRV_DETAIL_EXPAND4(HSADRV_DETAIL_EXPAND4(HSADRV_DETAIL_EXPAND4(HSADRV_DETAIL_EXPAND4(__VA_ARGS__))))
#define HSADRV_DETAIL_EXPAND4(...) \
    HSADRV_DETAIL_EXPAND3(HSADRV_DETAIL_EXPAND3(HSADRV_DETAIL_EXPAND3(HSADRV_DETAIL_EXPAND3(__VA_ARGS__))))
#define HSADRV_DETAIL_EXPAND3(...) \
    HSADRV_DETAIL_EXPAND2(HSADRV_DETAIL_EXPAND2(HSADRV_DETAIL_EXPAND2(HSADRV_DETAIL_EXPAND2(__VA_ARGS__))))
#define HSADRV_DETAIL_EXPAND2(...) \
    HSADRV_DETAIL_EXPAND1(HSADRV_DETAIL_EXPAND1(HSADRV_DETAIL_EXPAND1(HSADRV_DETAIL_EXPAND1(__VA_ARGS__))))
#define HSADRV_DETAIL_EXPAND1(...) __VA_ARGS__
