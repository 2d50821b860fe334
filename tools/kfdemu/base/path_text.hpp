// Taking paths apart, from the front.
//
//     if (take(rest, "/nodes/")) if (auto node = take_number(rest)) …       // `rest` is what follows
//
// Pure.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace kfdemu::sysfs {

/// Whether `path` begins with `prefix`, which is then cut off.
inline bool take(std::string_view& path, std::string_view prefix) {
    if (path.substr(0, prefix.size()) != prefix) return false;
    path.remove_prefix(prefix.size());
    return true;
}

/// The decimal number at the front of `path`, which is then cut to what follows it.
inline std::optional<unsigned> take_number(std::string_view& path) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), value);
    if (error != std::errc{}) return {};
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    return value;
}

}  // namespace kfdemu::sysfs
