// Runs a program under the trace library, and puts the files of its processes together.
//
//     const int status = run_traced({"a.out"}, {.file = "a.pftrace"});    // as a shell's: 128 + N for signal N
//
// The program has the terminal: Ctrl-C is its own, and SIGTERM and SIGHUP are passed on to it. Thread safety: one
// thread. Throws Failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hsadrv_tool::trace {

struct TraceOptions {
    std::string file;
    std::uint64_t limit_bytes = 0;  ///< 0: the library's default
    bool ring = false;              ///< the last events are kept, not the first
};

int run_traced(const std::vector<std::string>& command, const TraceOptions& options);

}  // namespace hsadrv_tool::trace
