// The names in a folder of the host, read without the interposed libc functions.
#pragma once

#include <string>
#include <vector>

namespace kfdemu {

/// Without "." and ".."; empty if the folder cannot be read.
std::vector<std::string> host_names(const char* folder);

}  // namespace kfdemu
