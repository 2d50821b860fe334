// Internal: formats numbers for messages.
//
//   throw InvalidArgument("no memory is at " + hex(address));  // "no memory is at 0x7f5d2a001000"
//
// Thread safety: functions. Throws: bad_alloc alone.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hsadrv::detail {

/// "0x7f5d2a001000", with leading zeros up to `digits` digits.
inline std::string hex(std::uint64_t number, std::size_t digits = 1) {
    char text[16];
    const std::size_t size = static_cast<std::size_t>(std::to_chars(text, text + sizeof text, number, 16).ptr - text);
    return "0x" + std::string(digits > size ? digits - size : 0, '0').append(text, size);
}
inline std::string hex(const void* address) { return hex(reinterpret_cast<std::uintptr_t>(address)); }

inline std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace hsadrv::detail
