// Internal: does a Unicode character print, as Python's str.isprintable() has it?
//
// Pure. Source: Unicode's general categories, as Python 3.11 has them.
#pragma once

#include <cstdint>

namespace hsadrv::detail {

bool is_printable(std::uint32_t character) noexcept;

}  // namespace hsadrv::detail
