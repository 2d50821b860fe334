// What the tests of the driver layer share: the first GPU with nothing made on it, waits that end, and child processes.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "hsadrv/hsadrv.hpp"
#include "support/device.hpp"
#include "support/sanitizer.hpp"

namespace device_test {

using namespace std::chrono_literals;

/// No test's work takes this long; a wait that does is a failure and not a hang.
inline constexpr auto patience = 60s;

/// Looks until the condition holds; whether it did in time.
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

/// Runs this program again with one hidden test case, which must pass: for what a process does not survive, as a GPU
/// that is lost to it.
void check_child(const std::string& test_case);

}  // namespace device_test
