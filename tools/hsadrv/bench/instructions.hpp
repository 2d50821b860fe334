// Counts the instructions that the calling thread executes per launch, with valgrind's callgrind.
//
//     const auto counts = count_instructions(options, {"raw", "stream"}, progress);   // before there is a Driver
//     counts.at("raw")
//     …
//     hsadrv_bench_counted([&] { way.launch_batch(1); });     // in the run that callgrind watches
//
// Each way is a separate run of this program. Instructions of other threads, such as the runtime's, do not count.
// Throws Failure: valgrind is not installed, or a run failed, with its output; Interrupted.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/hsadrv/bench/options.hpp"
#include "tools/hsadrv/progress.hpp"

/// What callgrind counts, by this name.
extern "C" void hsadrv_bench_counted(const std::function<void()>& work);

namespace hsadrv_bench {

/// By way: instructions for each launch of a batch.
std::map<std::string, double> count_instructions(const LaunchOptions& options, const std::vector<std::string>& ways,
                                                 hsadrv_tool::Progress& progress);

/// The instructions in what callgrind wrote for one thread; zero if it says nothing of them.
double instructions_in(const std::string& callgrind_output);

}  // namespace hsadrv_bench
