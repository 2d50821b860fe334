// Internal: the block sizes of an allocator: four steps per power of two, all multiples of 256 bytes. Above 1 KiB no
// block is more than a quarter larger than the request.
//
//   block.size_bytes = class_bytes(size_class(1300));    // 1536
//
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstddef>

namespace hsadrv::detail {

inline constexpr std::size_t smallest_block_bytes = 256;
inline constexpr std::size_t largest_block_bytes = std::size_t{1} << 46;

/// For sizes from 1 to largest_block_bytes; classes are numbered from 0 without gaps, by size.
constexpr std::size_t size_class(std::size_t size_bytes) noexcept {
    const std::size_t units = (size_bytes + smallest_block_bytes - 1) / smallest_block_bytes;
    if (units <= 4) return units - 1;
    const auto shift = static_cast<std::size_t>(std::bit_width(units - 1)) - 3;
    const std::size_t rounded = (units + (std::size_t{1} << shift) - 1) >> shift;  // 5 to 8
    return 4 * shift + rounded - 1;
}

constexpr std::size_t class_bytes(std::size_t index) noexcept {
    if (index < 4) return (index + 1) * smallest_block_bytes;
    return ((index - 4) % 4 + 5) * smallest_block_bytes << (index - 4) / 4;
}

inline constexpr std::size_t size_classes = size_class(largest_block_bytes) + 1;

}  // namespace hsadrv::detail
