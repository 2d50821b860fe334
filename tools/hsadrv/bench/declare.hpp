// The benchmarks of hsadrv bench: each declares its options and gives what it does.
#pragma once

#include <memory>

#include "options.hpp"
#include "subcommand.hpp"

namespace hsadrv_bench {

/// Of a benchmark with such options.
template <class Options>
hsadrv_tool::Run declare_as(CLI::App& app, int (*run)(const Options&, hsadrv_tool::Session&)) {
    auto options = std::make_shared<Options>();
    declare(app, *options);
    return [options, run](hsadrv_tool::Session& session) { return run(*options, session); };
}

hsadrv_tool::Run declare_copy(CLI::App& app);
hsadrv_tool::Run declare_launch(CLI::App& app);
hsadrv_tool::Run declare_alloc(CLI::App& app);
hsadrv_tool::Run declare_kernel(CLI::App& app);

}  // namespace hsadrv_bench
