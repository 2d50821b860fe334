// Runs this program again with one hidden test case: in a changed environment, or for failures that a process does not
// survive, such as a GPU that is lost to it.
//
//     test_support::check_child("child: a memory fault");
//
// Thread safety: any thread.
#pragma once

#include <string>

namespace test_support {

struct ChildResult {
    int status;
    std::string output;
};

/// Returns the exit status and output.
ChildResult run_test_in_child(const std::string& test_case, const char* variable, const char* value);

/// The test case must pass.
void check_child(const std::string& test_case);

}  // namespace test_support
