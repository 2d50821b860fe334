#include "tools/hsadrv/bench/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/common/own_program.hpp"
#include "tools/common/process.hpp"
#include "tools/common/scratch_folder.hpp"
#include "tools/hsadrv/exit_status.hpp"

extern "C" [[gnu::noinline]] void hsadrv_bench_counted(const std::function<void()>& work) {
    work();
    asm volatile("" ::: "memory");  // no tail call: the count ends here
}

namespace hsadrv_bench {
namespace {

namespace fs = std::filesystem;

// A launch is a few hundred instructions, but the runtime's start is millions, and fifty times as slow.
constexpr std::chrono::minutes patience{5};

// Without interrupts a thread of the runtime polls. On an idle machine it starves all others of valgrind's lock unless
// the lock is handed out fairly.
tools::Command command_for(const LaunchOptions& options, const std::string& way, const std::string& output) {
    tools::Command command{"valgrind",
                           "--tool=callgrind",
                           "--fair-sched=try",
                           "--separate-threads=yes",
                           "--collect-atstart=no",
                           "--toggle-collect=hsadrv_bench_counted",
                           "--callgrind-out-file=" + output,
                           tools::own_program().string(),
                           "bench",
                           "launch",
                           "--counted",
                           way,
                           "--batch",
                           std::to_string(options.batch)};
    if (!options.device.empty()) command.insert(command.end(), {"--device", options.device});
    if (!options.code_object.empty()) command.insert(command.end(), {"--code-object", options.code_object});
    return command;
}

/// One file a thread: the caller's has them all.
double most_of(const fs::path& folder, const std::string& way) {
    double most = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (!entry.path().filename().string().starts_with(way)) continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        most = std::max(most, instructions_in(text.str()));
    }
    return most;
}

double count(const LaunchOptions& options, const std::string& way, const tools::Interruptions& interruptions) {
    const tools::ScratchFolder scratch;
    const tools::Captured said =
        tools::capture(command_for(options, way, scratch / way), interruptions,
                       {{{"HSA_RUNNING_UNDER_VALGRIND", "1"}, {"HSA_ENABLE_INTERRUPT", "0"}}, patience});
    const auto refuse = [](const std::string& why) {
        throw tools::Failure(hsadrv_tool::exit_status::runtime, "--instructions: " + why);
    };
    if (said.status == 127) refuse("valgrind is not installed (apt-get install valgrind)");
    if (said.timed_out) refuse(fmt::format("valgrind took longer than {} minutes", patience.count()));
    if (said.status != 0) refuse(fmt::format("valgrind ended with exit status {} and\n{}", said.status, said.text));
    const double instructions = most_of(fs::path(scratch / way).parent_path(), way);
    if (instructions == 0) refuse("callgrind counted nothing; it printed\n" + said.text);
    return instructions / options.batch;
}

}  // namespace

double instructions_in(const std::string& callgrind_output) {
    std::istringstream lines(callgrind_output);
    double most = 0;
    for (std::string line; std::getline(lines, line);)
        for (const std::string_view key : {"totals: ", "summary: "})
            if (line.starts_with(key)) most = std::max(most, std::strtod(line.c_str() + key.size(), nullptr));
    return most;
}

std::map<std::string, double> count_instructions(const LaunchOptions& options, const std::vector<std::string>& ways,
                                                 hsadrv_tool::Progress& progress) {
    const tools::Interruptions interruptions;
    std::map<std::string, double> counts;
    for (const std::string& way : ways) {
        progress.say(fmt::format("launch: counting instructions under valgrind, {} of {}: {}", counts.size() + 1,
                                 ways.size(), way));
        counts[way] = count(options, way, interruptions);
    }
    return counts;
}

}  // namespace hsadrv_bench
