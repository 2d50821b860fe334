// Subcommand: a command such as `hsadrv topo`, with its options and its action.
//
//     Run declare_topo(tools::CommandSyntax& command) {
//         auto options = std::make_shared<TopoOptions>();
//         command.options = {{"--svg", &options->svg, "write a drawing", {.value = "FILE"}}};
//         return [options](Session& session) { return draw(*options, session); };
//     }
//
// Each subcommand has one such function, in a file of its name, and a line in subcommands.cpp. Thread safety: no state.
#pragma once

#include <functional>

#include "tools/common/command_line.hpp"
#include "tools/hsadrv/session.hpp"

namespace hsadrv_tool {

/// What it does; returns an exit status.
using Run = std::function<int(Session&)>;

/// --device, which names a GPU; `by_default` describes the default for --help.
tools::Option device_option(std::string& device, const char* by_default = "the first");
/// --json.
tools::Option json_option(bool& json);

struct Subcommand {
    const char* name;
    const char* summary;                            ///< one line of --help
    bool takes_device;                              ///< it has --device
    bool prints_json;                               ///< it has --json
    Run (*declare)(tools::CommandSyntax& command);  ///< fills in its options
    const char* default_device = "the first";       ///< what it reports on without --device
};

}  // namespace hsadrv_tool
