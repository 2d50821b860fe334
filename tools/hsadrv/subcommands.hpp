// The list of subcommands, in the order of --help.
#pragma once

#include <span>

#include "subcommand.hpp"

namespace hsadrv_tool {

std::span<const Subcommand> subcommands();

Run declare_info(CLI::App& app);
Run declare_topo(CLI::App& app);
Run declare_doctor(CLI::App& app);
Run declare_bench(CLI::App& app);
Run declare_objdump(CLI::App& app);
Run declare_test(CLI::App& app);
Run declare_completion(CLI::App& app);

}  // namespace hsadrv_tool
