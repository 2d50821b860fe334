// For tests that run on a device: the first GPU with a stream, or the test case is skipped; and waits with a limit.
//
//     TEST_CASE("...", "[device]") {
//         NEEDS_DEVICE();
//         test_support::Device device;
//
// If a device must exist, its absence is a failure: if the emulated one is built in (WITH_KFDEMU), and
// in a run with a selected device, which sets $HSADRV_TEST_DEVICE to "chosen".
#pragma once

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "hsadrv/context.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream.hpp"
#include "tests/support/catch.hpp"

namespace test_support {

/// Longer than any test's work: a wait that reaches it fails instead of hanging.
inline constexpr std::chrono::seconds patience{60};

/// Polls until the condition holds; true if it did in time.
template <class Condition>
bool eventually(Condition&& condition) {
    for (const hsadrv::Deadline limit(patience); !condition();) {
        if (limit.passed()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

struct Device {
    hsadrv::Driver driver;
    hsadrv::Context gpu{driver.gpus().front()};
    hsadrv::Stream stream = gpu.stream();
};

/// Why no device test can run; empty if they can, or must.
inline std::optional<std::string> no_device() {
#ifndef WITH_KFDEMU
    if (std::getenv("HSADRV_TEST_DEVICE")) return std::nullopt;
    try {
        hsadrv::Driver().gpus();
    } catch (const hsadrv::NoDevice& error) {
        return error.what();
    }
#endif
    return std::nullopt;
}

}  // namespace test_support

#define NEEDS_DEVICE()                                                      \
    do {                                                                    \
        if (const auto why = test_support::no_device()) SKIP_BECAUSE(*why); \
    } while (false)
