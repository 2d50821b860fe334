// Reads the segments and function symbols of an ELF code object.
//
//     if (is_code_at(bytes, address)) name = function_at(bytes, address);
//
// Pure; any bytes are valid input. Addresses are those of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace kfdemu::check {

/// The end of each executable segment by its beginning; empty if the bytes are no 64-bit ELF file.
std::map<std::uint64_t, std::uint64_t> code_of(std::span<const std::byte> elf);
/// Whether an executable segment holds the address. False if the bytes are no 64-bit ELF file.
bool is_code_at(std::span<const std::byte> elf, std::uint64_t address);
/// The symbol that holds the address, or the last one before it if none has a size; empty if there is none.
std::string function_at(std::span<const std::byte> elf, std::uint64_t address);
/// Whether it says that GCC compiled any of it.
bool is_by_gcc(std::span<const std::byte> elf);
/// A mangled symbol of C++ as in its source, with parameters; any other text as it is.
std::string readable(const std::string& symbol);

}  // namespace kfdemu::check
