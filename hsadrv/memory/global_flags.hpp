// Internal: hsa.h's numbers for segments and flags, as this library's types; regions and pools share them.
#pragma once

#include <cstdint>

#include "hsadrv/mem_region.hpp"

namespace hsadrv::detail {

GlobalFlags global_flags(std::uint32_t bits) noexcept;
/// Throws Error for a number that hsa.h does not have.
Segment segment_of(std::uint32_t native);

}  // namespace hsadrv::detail
