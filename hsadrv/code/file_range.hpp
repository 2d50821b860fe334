// A range of a file, after it has been checked to be inside.
//
//     // throws "fat binary: section 7: bytes 64 + 9 are past …"
//     file_range(file, offset, size, "fat binary", "section 7");
//
// Internal to the readers of code objects and bundles. Borrows the bytes. Thread safety: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hsadrv {

/// Throws InvalidCodeObject, which begins with `kind` and `what`.
std::span<const std::byte> file_range(std::span<const std::byte> file, std::uint64_t offset, std::uint64_t size,
                                      std::string_view kind, std::string_view what);

}  // namespace hsadrv
