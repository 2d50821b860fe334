// The layouts of arrays.cpp's kernels.
#pragma once

#include <shared/lds_layout.hpp>

inline constexpr uint32_t tile_size = 16;

constexpr auto transpose_tile() {
    return hsadrv::shared::lds_layout(hsadrv::shared::lds_array<float, tile_size, tile_size>().conflict_free());
}

constexpr auto around_nothing_layout(uint32_t n) {
    using namespace hsadrv::shared;
    return lds_layout(lds_array<uint32_t>(n), lds_array<double>(0, 7), lds_array<uint32_t>(n));
}
