// own_program(): this process's executable, with links resolved; without /proc, the path it was started by.
//
// Throws std::filesystem::filesystem_error if neither can be found. Thread safety: no state.
#pragma once

#include <filesystem>

namespace tools {

std::filesystem::path own_program();

}  // namespace tools
