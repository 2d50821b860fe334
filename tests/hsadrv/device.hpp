// Fixtures of the driver layer's tests: the first GPU, waits with a limit, and child processes.
#pragma once

#include <chrono>
#include <thread>

#include "hsadrv/hsadrv.hpp"
#include "tests/support/child.hpp"
#include "tests/support/device.hpp"
#include "tests/support/sanitizer.hpp"

namespace device_test {

using namespace std::chrono_literals;

using test_support::check_child;
using test_support::ChildResult;
using test_support::eventually;
using test_support::patience;
using test_support::run_test_in_child;
using test_support::sanitizer;

constexpr std::size_t page = 4096;

struct Device {
    hsadrv::Driver driver;
    hsadrv::AgentRef gpu = driver.gpus().front();
};

}  // namespace device_test
