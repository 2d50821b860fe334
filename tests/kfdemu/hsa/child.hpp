// One test case of this program in a separate process: for tests that end or damage a process.
//
//     TEST_CASE("child: touches what is not its own", "[.child]") { ... row() ... }
//     ...
//     const auto child = hsa_test::run_child("child: touches what is not its own", "a row");
//     CHECK(child.signal == SIGSEGV);
//
// Test cases tagged [.child] are hidden: they run only when asked for by name. The runtime of HSA delivers
// only the first memory fault of a process, and a fault without a handler aborts it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/kfdemu/hsa/machine.hpp"

namespace hsa_test {

struct ChildResult {
    int status = -1;         ///< of exit, or -1 if it did not
    int signal = 0;          ///< the signal that ended it, or 0
    bool timed_out = false;  ///< it was killed at the deadline
    std::string output;      ///< both streams
    bool passed() const { return status == 0 && !timed_out; }
};

/// Longer than a child's own waits, so that it can report what it missed.
inline constexpr Duration kChildDeadline = 2 * kDeadline;

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs this program again, with one test case, and waits for its end.
ChildResult run_child(const std::string& test_case, const std::string& row = {}, const Environment& more = {},
                      Duration timeout = kChildDeadline);
/// Runs any program so.
ChildResult run_program(const std::vector<std::string>& command, const Environment& more = {},
                        Duration timeout = kChildDeadline);

/// In a child: which row of the parent's table it is to be.
std::string row();

}  // namespace hsa_test
