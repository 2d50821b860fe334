// For tests that run on a device: the first GPU with a stream, or the test case is skipped.
//
//     TEST_CASE("...", "[device]") {
//         NEEDS_DEVICE();
//         test_support::Device device;
//
// Where the emulated GPU is built in (WITH_KFDEMU), there always is a device, so its absence is a failure.
#pragma once

#include <optional>
#include <string>

#include "hsadrv/context.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream.hpp"
#include "support/catch.hpp"

namespace test_support {

struct Device {
    hsadrv::Driver driver;
    hsadrv::Context gpu{driver.gpus().front()};
    hsadrv::Stream stream = gpu.stream();
};

/// Why no device test can run; nothing if they can, or should.
inline std::optional<std::string> no_device() {
#ifndef WITH_KFDEMU
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
