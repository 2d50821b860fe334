// The numbers that blur's kernel and program share.
#pragma once

#include <stdint.h>

inline constexpr uint32_t blur_block = 16;  // a work-group makes 16 x 16 samples
inline constexpr uint32_t blur_radius = 4;  // each from its neighbours up to 4 away
inline constexpr uint32_t blur_taps = 2 * blur_radius + 1;
