// Internal: conversion of elements from one type to another, by NumPy's rules.
//
//     if (can_cast(from, to, Casting::same_kind)) convert(to_array, from_array);
//
// Integers wrap, floating-point numbers are truncated towards zero or rounded to nearest, booleans are "not zero", the
// imaginary part of a complex number is dropped. A number that no 64-bit integer holds becomes the lowest one, as on
// x86-64. Scalars of every kind but the 8-bit floats; other types convert to themselves only. Pure: no state. The CPU
// converts, a few hundred million elements a second.
#pragma once

#include <cstdint>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv::detail {

/// NumPy's casting of the same names.
enum class Casting : std::uint8_t { no, safe, same_kind, unsafe };

bool can_cast(const DType& from, const DType& to, Casting casting);

/// Elements of one side, which the CPU reaches. Borrows.
struct Elements {
    void* data;
    const DType& dtype;
    const Layout& layout;
};

/// Of equal shapes, which share no memory; can_cast(…, Casting::unsafe) holds.
void convert(const Elements& to, const Elements& from) noexcept;

}  // namespace hsadrv::detail
