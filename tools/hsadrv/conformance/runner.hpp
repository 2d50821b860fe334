// Runner: runs tests of the suite in child processes, one per source file. After a crash or a hang the remaining tests
// run in another process.
//
//     Runner runner(suite.program, options, report, interruptions);
//     runner.run();            // throws Interrupted; the report has what ran until then
//
// Borrows: all four, until it is destroyed. Thread safety: one thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/common/process.hpp"
#include "tools/common/scratch_folder.hpp"
#include "tools/hsadrv/conformance/journal.hpp"
#include "tools/hsadrv/conformance/results.hpp"
#include "tools/hsadrv/progress.hpp"

namespace hsadrv_tool {

struct RunnerOptions {
    std::chrono::seconds timeout{300};  ///< of a test
    std::chrono::duration<double> stress{0};
    bool fail_fast = false;
    unsigned long seed = 0;
    /// The part of the children's environment that selects the GPU.
    std::vector<std::pair<std::string, std::string>> variables = {};
};

class Runner {
  public:
    Runner(std::filesystem::path program, const RunnerOptions& options, TestReport& report,
           const tools::Interruptions& interruptions)
        : program_(std::move(program)), options_(options), report_(report), interruptions_(interruptions) {}

    void run();

  private:
    using Tests = std::vector<TestResult*>;

    void run_file(Tests pending);
    void run_stress(Tests tests);
    void run_child(const Tests& tests, JournalReader& journal, double seconds);
    bool look(const Tests& tests, JournalReader& journal, double seconds);
    void explain_end(const Tests& tests, const JournalReader& journal, const tools::Captured& said);
    void settle(const Tests& tests, const JournalReader& journal, const std::string& output);
    bool stopped() const;

    std::filesystem::path program_;
    const RunnerOptions& options_;
    TestReport& report_;
    const tools::Interruptions& interruptions_;
    const tools::ScratchFolder scratch_ = {};
    Progress progress_ = {};
    unsigned children_ = 0;
    std::size_t done_ = 0;
    std::optional<TestResult> flatness_ = {};
    bool stopping_ = false;  ///< the child is ended for --fail-fast
};

/// "SIGSEGV" of the exit status that a shell gives, or "exit status 3".
std::string ending_of(int status);

/// What grew during a process's rounds; empty if memory and descriptors stayed as they were, or if there are too few
/// rounds. Fills in the compared values.
std::string growth(const std::vector<Round>& rounds, StressRounds& stress);

}  // namespace hsadrv_tool
