// Parses paths from the front.
//
//     if (take(rest, "/nodes/")) if (auto node = take_number(rest)) …       // `rest` is what follows
//
// Pure.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace kfdemu::sysfs {

/// Removes `prefix` from the front of `path`. False if `path` does not begin with it.
inline bool take(std::string_view& path, std::string_view prefix) {
    if (path.substr(0, prefix.size()) != prefix) return false;
    path.remove_prefix(prefix.size());
    return true;
}

/// Removes a decimal number from the front of `path` and returns it.
inline std::optional<unsigned> take_number(std::string_view& path) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), value);
    if (error != std::errc{}) return {};
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    return value;
}

}  // namespace kfdemu::sysfs
