// The command line: the options that all subcommands share, and the selection of the subcommand.
//
//     Session session;
//     const Run run = parse_command_line(argc, argv, session);    // throws Failure(usage), or Finished after --help
//     return run(session);
//
// Pure, except that --help and --version print. Thread safety: no state.
#pragma once

#include "tools/hsadrv/subcommand.hpp"

namespace hsadrv_tool {

/// --help or --version has been printed.
struct Finished {};

Run parse_command_line(int argc, char** argv, Session& session);

/// The whole tree of subcommands with all their options, as completion.cpp walks it. Parsing it sets `session` and
/// `run`, which must outlive it.
tools::CommandSyntax whole_command(Session& session, Run& run);

}  // namespace hsadrv_tool
