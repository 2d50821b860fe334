// The LDS layout of a work-group: its elements, and `radius` more on both sides.
#pragma once

#include <shared/lds_layout.hpp>

inline constexpr uint32_t radius = 3;

constexpr auto shared_array_layout(uint32_t workgroup) {
    return hsadrv::shared::lds_layout(hsadrv::shared::lds_array<float>(workgroup + 2 * radius));
}
