// For tests of the C interface: a device, a stream and launch.cl's kernels through it, and what a refused call says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hsadrv/hsadrv.h"
#include "tests/hsadrv/launch_device.hpp"

namespace test_support {

constexpr std::uint64_t patience_ns = 60'000'000'000;

/// A device, a stream and launch.cl's kernels, through the C interface.
struct CMachine {
    hsadrv_driver driver = nullptr;
    hsadrv_device gpu = nullptr;
    hsadrv_stream stream = nullptr;
    hsadrv_executable code = nullptr;
    hsadrv_kernel saxpy = nullptr;
    hsadrv_memory x = nullptr, y = nullptr;

    CMachine() {
        REQUIRE(hsadrv_driver_create(&driver) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_driver_device(driver, 0, &gpu) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_stream_create(gpu, nullptr, &stream) == HSADRV_SUCCESS);
        const std::string file = launch_file(hsadrv::Driver().gpus().front(), "v5.O2");
        REQUIRE(hsadrv_executable_load_file(gpu, file.c_str(), &code) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_executable_kernel(code, "saxpy", &saxpy) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_memory_create(gpu, HSADRV_MEMORY_HOST, 4096, &x) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_memory_create(gpu, HSADRV_MEMORY_HOST, 4096, &y) == HSADRV_SUCCESS);
    }
    CMachine(const CMachine&) = delete;
    CMachine& operator=(const CMachine&) = delete;
    ~CMachine() {
        hsadrv_memory_destroy(x);
        hsadrv_memory_destroy(y);
        hsadrv_kernel_destroy(saxpy);
        hsadrv_executable_destroy(code);
        hsadrv_stream_destroy(stream, patience_ns);
        hsadrv_driver_destroy(driver);
    }

    hsadrv_result launch(const std::vector<hsadrv_argument>& arguments, hsadrv_launch_config config) const {
        return hsadrv_kernel_launch(saxpy, stream, &config, arguments.data(), arguments.size(), patience_ns);
    }
    hsadrv_result launch(const std::vector<hsadrv_argument>& arguments) const { return launch(arguments, sizes()); }

    static hsadrv_launch_config sizes() {
        hsadrv_launch_config config{};
        config.struct_size = sizeof config;
        config.grid[0] = 64;
        config.workgroup[0] = 64;
        return config;
    }
    std::vector<hsadrv_argument> arguments() const {
        static const float a = 2.0f;
        static const std::uint32_t n = 64;
        return {hsadrv_argument_memory(y, HSADRV_ARGUMENT_FLOATING, 4),
                hsadrv_argument_memory(x, HSADRV_ARGUMENT_FLOATING, 4),
                hsadrv_argument_value(HSADRV_ARGUMENT_FLOATING, &a, sizeof a),
                hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &n, sizeof n)};
    }
};

/// The message of a call that must fail with `wanted`.
inline std::string failure(hsadrv_result wanted, hsadrv_result result) {
    CHECK(result == wanted);
    CHECK(hsadrv_last_error() == result);
    return hsadrv_last_error_message();
}

constexpr hsadrv_result bad_handle = HSADRV_ERROR_INVALID_HANDLE, bad_argument = HSADRV_ERROR_INVALID_ARGUMENT;

template <class Handle>
Handle number(std::uintptr_t value) {
    return reinterpret_cast<Handle>(value);
}

}  // namespace test_support

#define NEEDS_C_MACHINE()                          \
    NEEDS_DEVICE();                                \
    NEEDS_LAUNCH_KERNELS(Driver().gpus().front()); \
    CMachine m
