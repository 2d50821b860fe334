// Subcommand: a word behind hsadrv, with its options and what it does.
//
//     Run declare_topo(CLI::App& app) {
//         auto options = std::make_shared<TopoOptions>();
//         app.add_option("--svg", options->svg, "write a drawing")->type_name("FILE");
//         return [options](Session& session) { return draw(*options, session); };
//     }
//
// One such function each, in a file of its name, and a line in subcommands.cpp. Thread safety: no state.
#pragma once

#include <functional>

#include "command_line_library.hpp"
#include "session.hpp"

namespace hsadrv_tool {

/// What it does; returns an exit status.
using Run = std::function<int(Session&)>;

/// --device, which names a GPU; `by_default`: what is meant without it.
CLI::Option* add_device_option(CLI::App& app, std::string& device, const char* by_default = "the first");
/// --json.
CLI::Option* add_json_option(CLI::App& app, bool& json);

struct Subcommand {
    const char* name;
    const char* summary;  ///< one line of --help
    bool takes_device;    ///< it has --device
    bool prints_json;     ///< it has --json
    Run (*declare)(CLI::App& app);
    const char* default_device = "the first";  ///< what it is about without --device
};

}  // namespace hsadrv_tool
