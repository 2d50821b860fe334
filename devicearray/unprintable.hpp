// Internal: is a Unicode character printable, as in Python's str.isprintable()?
//
// Pure. Source: Unicode's general categories, as in Python 3.11.
#pragma once

#include <cstdint>

namespace hsadrv::detail {

bool is_printable(std::uint32_t character) noexcept;

}  // namespace hsadrv::detail
