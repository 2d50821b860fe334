// Internal: structures that begin with struct_size, of programs that are older or newer than the library.
//
//   const hsadrv_launch_config config = read_structure("hsadrv_kernel_launch", "config", given, first_bytes);
//   write_structure(facts, made);
//
// A structure only grows at its end, and zero is every field's default. Thread safety: pure functions. Throws:
// InvalidArgument naming the call, the parameter and the sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace hsadrv::c {

/// Throws unless `given_bytes` is a plausible size of a structure that began with `first_bytes` bytes.
void check_size(const char* call, const char* name, std::size_t given_bytes, std::size_t first_bytes);
/// Throws unless the fields that this library does not know are zero.
void check_unknown_fields(const char* call, const char* name, const void* given, std::size_t given_bytes,
                          std::size_t known_bytes);

/// What the caller gave, with zero for what it does not have. `first_bytes`: the size in the first version.
template <class T>
T read_structure(const char* call, const char* name, const T* given, std::size_t first_bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    check_size(call, name, given->struct_size, first_bytes);
    check_unknown_fields(call, name, given, given->struct_size, sizeof(T));
    T known{};
    std::memcpy(&known, given, std::min(given->struct_size, sizeof(T)));
    return known;
}

/// Writes as much as the caller has room for, and zero to what this library does not know.
template <class T>
void write_structure(T* to, T facts) {
    facts.struct_size = to->struct_size;
    const std::size_t known_bytes = std::min(facts.struct_size, sizeof(T));
    if (facts.struct_size > known_bytes)
        std::memset(reinterpret_cast<std::byte*>(to) + known_bytes, 0, facts.struct_size - known_bytes);
    std::memcpy(to, &facts, known_bytes);
}

/// A text cut to a field, ending in zero.
template <std::size_t N>
void copy_text(char (&field)[N], const std::string& text) noexcept {
    const std::size_t bytes = std::min(text.size(), N - 1);
    std::memcpy(field, text.data(), bytes);
    std::memset(field + bytes, 0, N - bytes);
}

}  // namespace hsadrv::c
