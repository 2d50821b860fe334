// Fixtures of the driver layer's tests: the first GPU, waits with a limit, and child processes.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "hsadrv/hsadrv.hpp"
#include "support/device.hpp"
#include "support/sanitizer.hpp"

namespace device_test {

using namespace std::chrono_literals;

/// Longer than any test's work: a wait that reaches it fails instead of hanging.
inline constexpr auto patience = 60s;

/// Polls until the condition holds; true if it did in time.
template <class Condition>
bool eventually(Condition&& condition) {
    for (const hsadrv::Deadline limit(patience); !condition();) {
        if (limit.passed()) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

using test_support::sanitizer;

struct Device {
    hsadrv::Driver driver;
    hsadrv::AgentRef gpu = driver.gpus().front();
};

/// Runs this program again with one hidden test case in a changed environment; returns its exit status and output.
struct ChildResult {
    int status;
    std::string output;
};
ChildResult run_test_in_child(const std::string& test_case, const char* variable, const char* value);

/// Runs this program again with one hidden test case, which must pass: for failures that a process does not survive,
/// such as a GPU that is lost to it.
void check_child(const std::string& test_case);

}  // namespace device_test
