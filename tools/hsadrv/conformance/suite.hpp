// The conformance suite: the program hsadrv-conformance, which contains the tests, and its list of them.
//
//     const Suite suite = find_suite(interruptions);     // throws Failure(files) if it is not installed
//     for (const TestResult& test : suite.tests) …
//
// It is built with the tests (-Dtests=true) and installed in libexec/hsadrv. Thread safety: a plain value.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/common/process.hpp"
#include "tools/hsadrv/conformance/results.hpp"

namespace hsadrv_tool {

struct Suite {
    std::filesystem::path program;
    std::vector<TestResult> tests;  ///< not run; by area, then by file, as they stand there
};

Suite find_suite(const tools::Interruptions& interruptions);

/// The same from what the program printed. Throws Failure(files).
std::vector<TestResult> tests_of(const std::string& listing);

}  // namespace hsadrv_tool
