// Completion scripts, made of the options that are declared, so that they cannot be stale.
//
//     std::string script = bash_completion(app);
//
// Pure functions of the tree of subcommands. An option completes the words of its IsMember check, or files where its
// type is FILE or FOLDER. Thread safety: no state.
#pragma once

#include <string>

#include "command_line_library.hpp"

namespace hsadrv_tool {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);

}  // namespace hsadrv_tool
