// Completion scripts, generated from the declared options, so that they are never stale.
//
//     std::string script = bash_completion(command);
//
// Pure functions of the tree of subcommands. An option completes the words that it takes or lists, or file names if its
// value is a FILE or a FOLDER. Thread safety: no state.
#pragma once

#include <string>

#include "tools/common/command_line.hpp"

namespace hsadrv_tool {

std::string bash_completion(const tools::CommandSyntax& command);
std::string zsh_completion(const tools::CommandSyntax& command);

}  // namespace hsadrv_tool
