// Internal: texts in the structures of the C interface; c_interop.hpp reads and writes structures.
//
//   copy_text(facts.name, agent.name());
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "hsadrv/c_interop.hpp"

namespace hsadrv::c {

/// A text cut to a field, ending in zero.
template <std::size_t N>
void copy_text(char (&field)[N], const std::string& text) noexcept {
    const std::size_t bytes = std::min(text.size(), N - 1);
    std::memcpy(field, text.data(), bytes);
    std::memset(field + bytes, 0, N - bytes);
}

}  // namespace hsadrv::c
