// The results of a run of the conformance suite: pure data, which report.hpp formats as text, JSON and JUnit XML.
//
//     for (const TestResult& test : report.tests)
//         if (is_failure(test.outcome)) …
//
// Thread safety: plain values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hsadrv_tool {

enum class Outcome { passed, failed, crashed, timed_out, skipped, not_run };
constexpr bool is_failure(Outcome outcome) {
    return outcome == Outcome::failed || outcome == Outcome::crashed || outcome == Outcome::timed_out;
}
std::string_view to_string(Outcome outcome);

/// The areas, in the order in which they run and are reported.
inline constexpr std::array<const char*, 10> areas{"discovery",    "memory", "signals", "queues",   "streams",
                                                   "code-objects", "arrays", "lds",     "negative", "stress"};

struct TestResult {
    std::string area;
    std::string file;  ///< "hsadrv/queue.cpp", below tests/
    std::string name;
    Outcome outcome = Outcome::not_run;
    std::string message = {};  ///< why it failed, was skipped or was not run
    double seconds = 0;
    std::string output = {};  ///< the end of what it printed, if it failed
};

/// The GPU that was tested.
struct TestedDevice {
    unsigned index = 0;
    std::string name, product, uuid, runtime;
};

/// The repeated area stress: `--stress`.
struct StressRounds {
    double minutes = 0;
    unsigned long rounds = 0, first_seed = 0, last_seed = 0;
    struct Footprint {
        long resident_kb = 0, descriptors = 0;
    };
    /// After the first rounds, when the footprint is stable, and after the last round of the same process.
    std::optional<Footprint> before = {}, after = {};
};

struct TestReport {
    std::optional<TestedDevice> device = {};  ///< std::nullopt: the tests were only listed
    std::string started = {};                 ///< UTC, ISO 8601
    std::vector<TestResult> tests = {};
    std::optional<StressRounds> stress = {};
    double seconds = 0;
    int interrupted_by = 0;  ///< the signal
};

struct Counts {
    unsigned passed = 0, failed = 0, crashed = 0, timed_out = 0, skipped = 0, not_run = 0;
    double seconds = 0;

    unsigned failures() const { return failed + crashed + timed_out; }
    unsigned all() const { return passed + failures() + skipped + not_run; }
};

/// Of one area, or of all.
Counts count(const TestReport& report, std::string_view area = {});

/// "passed", "failed", "interrupted" or "listed".
std::string_view verdict(const TestReport& report);

}  // namespace hsadrv_tool
