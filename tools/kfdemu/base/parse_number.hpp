// Parses a whole text as a number.
//
//     if (!parse_number(text, gpus)) return "expected a number";  // false for "", "2x", " 2" and values out of range
//
// Thread safety: any thread.
#pragma once

#include <charconv>
#include <string_view>

namespace kfdemu {

template <class T>
bool parse_number(std::string_view text, T& value, int base = 10) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace kfdemu
