// The list of subcommands, in the order of --help.
#pragma once

#include <span>

#include "tools/hsadrv/subcommand.hpp"

namespace hsadrv_tool {

std::span<const Subcommand> subcommands();

Run declare_info(tools::CommandSyntax& command);
Run declare_topo(tools::CommandSyntax& command);
Run declare_doctor(tools::CommandSyntax& command);
Run declare_bench(tools::CommandSyntax& command);
Run declare_objdump(tools::CommandSyntax& command);
Run declare_trace(tools::CommandSyntax& command);
Run declare_test(tools::CommandSyntax& command);
Run declare_completion(tools::CommandSyntax& command);

}  // namespace hsadrv_tool
