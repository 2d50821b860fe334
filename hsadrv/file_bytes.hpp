// A regular file, read whole, once.
//
//     std::vector<std::byte> bytes = read_file("vector_add.hsaco");
//
// Thread safety: no state. What another process does to the file afterwards has no effect. A file that is replaced
// meanwhile (by rename) is read as it was when it was opened. One that is written to in place is refused as far as
// the file system's clock tells.
#pragma once

#include <cstddef>
#include <vector>

#include "hsadrv/file_path.hpp"

namespace hsadrv {

/// More than any code object we have seen, by far.
inline constexpr std::size_t max_code_file_bytes = std::size_t{2} << 30;

/// Throws Error naming the file: missing, forbidden, a directory or a pipe, larger than `max_bytes`, or
/// changed while being read.
std::vector<std::byte> read_file(const FilePath& path, std::size_t max_bytes = max_code_file_bytes);

}  // namespace hsadrv
