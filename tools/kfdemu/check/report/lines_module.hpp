// Source lines of an ELF file, through libkfdemu-lines.so next to this library, which is loaded when it is first
// needed.
//
//     site.source = source_lines(bytes, address);          // empty: no such module, no line information, not there
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/kfdemu/check/report/finding.hpp"

namespace kfdemu::check {

/// `address` is the file's. The innermost frame is first.
std::vector<Frame> source_lines(std::span<const std::byte> elf, std::uint64_t address);

}  // namespace kfdemu::check
