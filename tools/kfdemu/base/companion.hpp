// The libraries that are installed beside this one.
//
//     const std::string path = companion("libkfdemu-lines.so", "lines");      // "": it is not there
//
// Thread safety: any thread, but it takes the dynamic linker's lock.
#pragma once

#include <string>

namespace kfdemu {

/// `folder`: where it is in a build directory, below this library.
std::string companion(const std::string& name, const std::string& folder);

/// A path as HSA_TOOLS_LIB has it, a list with blanks between: with backslashes before blanks, quotes and backslashes.
inline std::string escaped_tool(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (c == ' ' || c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text;
}

}  // namespace kfdemu
