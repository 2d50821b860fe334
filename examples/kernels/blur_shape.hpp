// Constants shared by blur's kernel and host program.
#pragma once

#include <stdint.h>

inline constexpr uint32_t blur_block = 16;  // a work-group computes 16 x 16 samples
inline constexpr uint32_t blur_radius = 4;  // each from neighbours at most 4 away
inline constexpr uint32_t blur_taps = 2 * blur_radius + 1;
