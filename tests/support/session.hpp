// The main() of a test program: Catch2's, and a last line for tools/test.
//
//     int main(int argc, char** argv) { return test_support::run_session(argc, argv); }
//
// Thread safety: one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace test_support {

/// With Catch2's options. Returns the exit status.
int run_session(int argc, char** argv);

/// Runs the test cases of these names without Catch2's output, and repeats while `again` returns true.
void run_test_cases(const std::vector<std::string>& names, const std::function<bool()>& again);

/// Catch2's specification of the one test case of that name.
std::string specification_of(const std::string& name);

/// The reason of SKIP_BECAUSE in that test case's last run; empty without one.
std::optional<std::string> skip_reason(const std::string& test_case);

}  // namespace test_support
