// Internal: what the cache keeps of one compilation, and its form on disk.
//
//     std::optional<CacheEntry> entry = unpack(pack(entry));   // std::nullopt: damaged
//
// An entry repeats what it is for, so that two keys of one name are not mistaken for each other. It lists the files
// that the compiler read, and is valid while they are what they were. The checksum finds damage; it is no protection
// against the user's own processes, so files of other users are not read (cache_folder.hpp). Pure, but for
// fingerprint(). Thread safety: values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hsadrv::detail {

/// A file that the result depends on.
struct Dependency {
    enum class By : char {
        content = 'c',  ///< its digest: sources
        stamp = 's'     ///< size and time of its last change: programs
    };
    By by = By::content;
    std::string path;
    std::string fingerprint;

    friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// The fingerprint of a file as it is now; std::nullopt if it cannot be read.
std::optional<std::string> fingerprint(Dependency::By by, const std::string& path);

struct CacheEntry {
    std::string key;  ///< the whole text that it is kept under
    std::vector<Dependency> dependencies;
    std::string printed;
    std::string clang;
    std::vector<std::byte> code_object;

    friend bool operator==(const CacheEntry&, const CacheEntry&) = default;
};

/// Whether every dependency is what it was.
bool is_current(const CacheEntry& entry);

std::vector<std::byte> pack(const CacheEntry& entry);
std::optional<CacheEntry> unpack(std::span<const std::byte> bytes);

/// 32 hexadecimal digits.
std::string digest_of(std::span<const std::byte> bytes);

}  // namespace hsadrv::detail
