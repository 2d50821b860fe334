// What one memory instruction of a wave costs: lines of memory, conflicts of LDS banks.
//
//     unsigned lines = memory_lines(access.at, access.lanes, access.bytes, kLines);     // of kLines.bytes
//     unsigned cycles = bank_conflicts(access.at, access.lanes, access.bytes, Direction::Load);
//
// The model of LDS: 32 banks of 4 bytes. A wave's access is served in passes of as many lanes as 32 banks have data
// for: of 64 lanes, two of 32 for up to 4 bytes, four of 16 for 8, eight of 8 for 12 and 16; of 32 lanes, half of them.
// The lanes of a pass are consecutive, except those of loads of 12 and 16 bytes: lanes 0 to 3 are served with 20 to 23,
// 4 to 7 with 16 to 19, 8 to 11 with 28 to 31, 12 to 15 with 24 to 27, and so are those from 32 on. A pass takes one
// more cycle for each further dword that it touches in the same bank; lanes that touch the same dword share it.
// Sources: "Vega" ISA manual, "Data Share Operations" (banks, broadcast); the others are in docs/guide/counters.md.
//
// Pure. Thread safety: any thread.
#pragma once

#include <array>
#include <cstdint>

#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::count {

using Addresses = std::array<std::uint64_t, isa::kMostLanes>;

inline constexpr unsigned kScalarLineBytes = 64;
inline constexpr unsigned kBanks = 32;

/// Of vector memory.
struct Lines {
    unsigned bytes = 64;               ///< Traits::vector_line_bytes
    unsigned lanes = isa::kMostLanes;  ///< of a wave: scratch has a dword of each side by side
};

/// Atomics are stores.
enum class Direction { Load, Store };

/// Distinct lines that the lanes' accesses of that many bytes, at most 64, touch.
unsigned memory_lines(const Addresses& at, std::uint64_t lanes, unsigned bytes, const Lines& lines);
/// The same of accesses from `first` to `last`, the address of their last byte.
unsigned memory_lines(const Addresses& first, const Addresses& last, std::uint64_t lanes, const Lines& lines);
/// The same of scratch, by offsets in the lanes' segments: memory holds dword 0 of all lanes, then dword 1.
unsigned scratch_lines(const Addresses& at, std::uint64_t lanes, unsigned bytes, const Lines& lines);
/// Lines of kScalarLineBytes of one access of consecutive bytes.
unsigned scalar_lines(std::uint64_t at, unsigned bytes);
/// Cycles beyond one a pass.
unsigned bank_conflicts(const Addresses& at, std::uint64_t lanes, unsigned bytes, Direction direction);

}  // namespace kfdemu::count
