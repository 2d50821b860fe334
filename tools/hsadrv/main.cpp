// hsadrv: one command for an AMD GPU at driver level: info, doctor, topo, bench, objdump, trace, test.
#include <cstdio>

#include "hsadrv/error.hpp"
#include "tools/common/process.hpp"
#include "tools/common/standard_streams.hpp"
#include "tools/hsadrv/command_line.hpp"

namespace {

using namespace hsadrv_tool;

int say(int status, const char* text) {
    if (*text) std::fprintf(stderr, "hsadrv: %s\n", text);
    return status;
}

int work(int argc, char** argv) {
    Session session;
    const Run run = parse_command_line(argc, argv, session);
    session.terminal = terminal_of_output();
    return run(session);
}

}  // namespace

int main(int argc, char** argv) try {
    tools::hold_standard_streams();
    return work(argc, argv);
} catch (const Finished&) {
    return exit_status::done;
} catch (const tools::Interrupted& interrupted) {
    tools::die_of(interrupted.signal);
} catch (const tools::Failure& failure) {
    return say(failure.status(), failure.what());
} catch (const hsadrv::NoDevice& error) {
    say(exit_status::no_device, error.what());
    return say(exit_status::no_device, "run hsadrv doctor to find the cause");
} catch (const hsadrv::Error& error) {
    return say(exit_status::runtime, error.what());
} catch (const std::exception& error) {
    return say(exit_status::runtime, error.what());
}
