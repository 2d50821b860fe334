// Bytes of memory that a copy reads or writes: rows of a pitched volume. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace kfdemu::check {

struct Box {
    std::uint64_t address = 0, row_bytes = 0, pitch_bytes = 0, slice_bytes = 0, rows = 1, slices = 1;

    std::uint64_t end() const { return address + (slices - 1) * slice_bytes + (rows - 1) * pitch_bytes + row_bytes; }
    bool contains(std::uint64_t va) const { return va < end() && next(va) == va; }
    /// The first of its bytes from `va` on; end(), or beyond: none.
    std::uint64_t next(std::uint64_t va) const;
};

/// The address of a byte that both have.
std::optional<std::uint64_t> common_byte(const Box& a, const Box& b);

}  // namespace kfdemu::check
