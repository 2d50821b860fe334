// What the tests of the driver layer share: the first GPU with nothing made on it, waits that end, and child
// processes.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "hsadrv/hsadrv.hpp"
#include "support/device.hpp"

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

/// Compiled with a sanitizer that replaces the allocator and needs descriptors itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitizer = true;
#else
inline constexpr bool sanitizer = false;
#endif
#else
inline constexpr bool sanitizer = false;
#endif

struct Device {
    hsadrv::Driver driver;
    hsadrv::AgentRef gpu = driver.gpus().front();
};

/// Runs this program again with one hidden test case in a changed environment; returns its exit status and
/// output.
struct ChildResult {
    int status;
    std::string output;
};
ChildResult run_test_in_child(const std::string& test_case, const char* variable, const char* value);

}  // namespace device_test
