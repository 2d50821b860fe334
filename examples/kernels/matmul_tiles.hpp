// The two LDS tiles of matmul_dynamic: the layout for the kernel's indexing and for the launch's `.lds`.
#pragma once

#include <shared/lds_layout.hpp>

constexpr auto matmul_tiles(uint32_t tile) {
    using namespace hsadrv::shared;
    return lds_layout(lds_array<float>(tile, tile), lds_array<float>(tile, tile));
}
