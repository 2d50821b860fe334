#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {

std::span<const Subcommand> subcommands() {
    static constexpr Subcommand all[] = {
        // name, summary, takes --device, prints JSON
        {"info", "show what the HSA runtime reports about the agents of this machine", true, true, declare_info,
         "all agents"},
        {"topo", "draw the agents of this machine and the links between them", false, true, declare_topo},
        {"doctor", "find out why there is no GPU or why it does not work", true, true, declare_doctor, "all of them"},
        {"bench", "measure copies, launches, allocations and kernels", false, false, declare_bench},
        {"objdump", "show what code objects contain, which resources they use, and whether the GPUs here load them",
         true, true, declare_objdump, "all of them"},
        {"trace", "record a program's calls and its GPU's work for ui.perfetto.dev, and sum them up", false, false,
         declare_trace},
        {"test", "run the conformance suite on a GPU", true, true, declare_test},
        {"completion", "print a completion script for bash or zsh", false, false, declare_completion},
    };
    return all;
}

}  // namespace hsadrv_tool
