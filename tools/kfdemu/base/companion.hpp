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

/// Lets the HSA runtime load a library, in front of those that HSA_TOOLS_LIB has; once.
void add_tool(const std::string& path);

}  // namespace kfdemu
