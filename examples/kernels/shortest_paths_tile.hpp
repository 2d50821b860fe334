// The size of a tile, for the host and the kernel.
#pragma once

inline constexpr unsigned tile_items = 16;
