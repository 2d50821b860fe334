// Splits a string at a separator.
//
//     split("a:b", ':')           // "a", "b"
//
// Empty parts are kept, except one after the last separator. Pure.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace tools {

inline std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

}  // namespace tools
