#include "tools/hsadrv/conformance/results.hpp"

namespace hsadrv_tool {

std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return "passed";
        case Outcome::failed:
            return "failed";
        case Outcome::crashed:
            return "crashed";
        case Outcome::timed_out:
            return "timed out";
        case Outcome::skipped:
            return "skipped";
        case Outcome::not_run:
            return "not run";
    }
    return "";
}

Counts count(const TestReport& report, std::string_view area) {
    Counts counts;
    for (const TestResult& test : report.tests) {
        if (!area.empty() && test.area != area) continue;
        counts.seconds += test.seconds;
        switch (test.outcome) {
            case Outcome::passed:
                ++counts.passed;
                break;
            case Outcome::failed:
                ++counts.failed;
                break;
            case Outcome::crashed:
                ++counts.crashed;
                break;
            case Outcome::timed_out:
                ++counts.timed_out;
                break;
            case Outcome::skipped:
                ++counts.skipped;
                break;
            case Outcome::not_run:
                ++counts.not_run;
                break;
        }
    }
    return counts;
}

std::string_view verdict(const TestReport& report) {
    if (!report.device) return "listed";
    if (report.interrupted_by) return "interrupted";
    return count(report).failures() > 0 ? "failed" : "passed";
}

}  // namespace hsadrv_tool
