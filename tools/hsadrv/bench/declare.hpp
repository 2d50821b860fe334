// The benchmarks of hsadrv bench: each function declares the options and returns the benchmark.
#pragma once

#include <memory>

#include "tools/hsadrv/bench/options.hpp"
#include "tools/hsadrv/subcommand.hpp"

namespace hsadrv_bench {

/// Of a benchmark with such options.
template <class Options>
hsadrv_tool::Run declare_as(tools::CommandSyntax& command, int (*run)(const Options&, hsadrv_tool::Session&)) {
    auto options = std::make_shared<Options>();
    command.options = options_of(*options);
    return [options, run](hsadrv_tool::Session& session) { return run(*options, session); };
}

hsadrv_tool::Run declare_copy(tools::CommandSyntax& command);
hsadrv_tool::Run declare_launch(tools::CommandSyntax& command);
hsadrv_tool::Run declare_alloc(tools::CommandSyntax& command);
hsadrv_tool::Run declare_kernel(tools::CommandSyntax& command);

}  // namespace hsadrv_bench
