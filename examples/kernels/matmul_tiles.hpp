// The two LDS tiles of matmul_dynamic, for the kernel's indexing and the launch's `.lds` alike.
#pragma once

#include <shared/lds_layout.hpp>

constexpr auto matmul_tiles(uint32_t tile) {
    using namespace hsadrv::shared;
    return lds_layout(lds_array<float>(tile, tile), lds_array<float>(tile, tile));
}
