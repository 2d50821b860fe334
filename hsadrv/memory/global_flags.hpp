// Internal: converts hsa.h's segment and flag values to this library's types; for regions and pools.
#pragma once

#include <cstdint>

#include "hsadrv/mem_region.hpp"

namespace hsadrv::detail {

GlobalFlags global_flags(std::uint32_t bits) noexcept;
/// Throws Error for a value that hsa.h does not define.
Segment segment_of(std::uint32_t native);

}  // namespace hsadrv::detail
