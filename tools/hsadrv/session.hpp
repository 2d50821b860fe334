// Session: a subcommand's input from the command line and the terminal, and the output for its report.
//
//     int run(Session& session) {
//         const hsadrv::Driver driver;
//         const hsadrv::AgentRef gpu = session.gpu(driver);         // --device, or the first
//         session.print(session.json ? json_text(report) : as_text(report, session.terminal));
//         return exit_status::done;
//     }
//
// Thread safety: one thread.
#pragma once

#include <string>
#include <string_view>

#include "hsadrv/driver.hpp"
#include "tools/hsadrv/exit_status.hpp"
#include "tools/hsadrv/json.hpp"
#include "tools/hsadrv/terminal.hpp"

namespace hsadrv_tool {

struct Session {
    bool json = false;
    std::string device;  ///< as given; empty: the first GPU
    Terminal terminal;

    /// The GPU that --device names, or the first. Throws NoDevice; Failure(usage) if several GPUs have that name.
    hsadrv::AgentRef gpu(const hsadrv::Driver& driver) const;

    /// To standard output. Throws Failure(files).
    void print(std::string_view text) const;
};

}  // namespace hsadrv_tool
