// A run of the conformance suite as text, as JSON and as JUnit XML.
//
//     session.print(session.json ? json_text(as_json(report)) : as_text(report, session.terminal));
//     file.write(as_junit(report));
//
// Pure functions. Thread safety: no state. Sources: docs/schema/test.v1.json; the JUnit format as Ant's
// junitreport wrote it first, which CI systems read: testsuites, testsuite, testcase with failure, error or skipped.
#pragma once

#include <string>

#include "tools/hsadrv/conformance/results.hpp"
#include "tools/hsadrv/json.hpp"
#include "tools/hsadrv/terminal.hpp"

namespace hsadrv_tool {

/// The table of areas, why tests were skipped, those that failed, and the verdict.
std::string as_text(const TestReport& report, const Terminal& terminal);

/// The tests by area, not run.
std::string list_text(const TestReport& report);

Json as_json(const TestReport& report);

/// A test that crashed or was killed is an error, a failed test a failure; tests that did not run are skipped, with a
/// message.
std::string as_junit(const TestReport& report);

}  // namespace hsadrv_tool
