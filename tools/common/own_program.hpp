// own_program(): the file that this process runs, with links followed; as it was started where there is no /proc.
//
// Throws std::filesystem::filesystem_error if neither can be found. Thread safety: no state.
#pragma once

#include <filesystem>

namespace tools {

std::filesystem::path own_program();

}  // namespace tools
