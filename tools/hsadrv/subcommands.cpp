#include "subcommands.hpp"

namespace hsadrv_tool {

std::span<const Subcommand> subcommands() {
    static constexpr Subcommand all[] = {
        // name, summary, takes --device, prints JSON
        {"info", "what the HSA runtime tells of the agents of this machine", true, true, declare_info, "all agents"},
        {"topo", "the agents of this machine and the links between them, as a drawing", false, true, declare_topo},
        {"doctor", "why there is no GPU, or why it does not work", true, true, declare_doctor, "all of them"},
        {"bench", "measure copies, launches, allocations and kernels", false, false, declare_bench},
        {"objdump", "what code objects hold, what they take of a GPU, and whether the GPUs here load them", true, true,
         declare_objdump, "all of them"},
        {"test", "run the conformance suite on a GPU", true, true, declare_test},
        {"completion", "print a completion script for bash or zsh", false, false, declare_completion},
    };
    return all;
}

}  // namespace hsadrv_tool
