// Three extents: of a grid, a work-group, or what an agent allows.
//
//   hsadrv::Dim3 grid = {1024, 16};
//
// Thread safety: plain values.
#pragma once

#include "shared/cpp20.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace hsadrv {

/// Three extents, counted in work-items unless said otherwise. Any integer converts: `Dim3 grid = 1 << 20`.
struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;

    constexpr Dim3() noexcept = default;
    /// Throws InvalidArgument for an extent that 32 bits cannot hold.
    template <std::integral X, std::integral Y = int, std::integral Z = int>
    constexpr Dim3(X x_, Y y_ = 1, Z z_ = 1)  // NOLINT: conversion is the interface
        : x(extent(x_)), y(extent(y_)), z(extent(z_)) {}

    constexpr std::uint64_t volume() const noexcept { return std::uint64_t{x} * y * z; }
    /// 1, 2 or 3; trailing extents of 1 do not count.
    constexpr unsigned dimensions() const noexcept { return z != 1 ? 3 : y != 1 ? 2 : 1; }
    /// "1024x16x1"
    std::string text() const;
    friend constexpr bool operator==(const Dim3&, const Dim3&) noexcept = default;

  private:
    template <std::integral T>
    static constexpr std::uint32_t extent(T value) {
        if (!std::in_range<std::uint32_t>(value))
            throw_extent(!std::in_range<std::uint64_t>(value), static_cast<std::uint64_t>(value));
        return static_cast<std::uint32_t>(value);
    }
    [[noreturn]] static void throw_extent(bool negative, std::uint64_t bits);
};

}  // namespace hsadrv
