// A GPU with a stream and a kernel on unsigned integers: data[i] = data[i] * factor + summand.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "hsadrv/hsadrv.hpp"
#include "tests/support/device.hpp"
#include "tests/support/test_file.hpp"

struct ScaleAdd {
    explicit ScaleAdd(hsadrv::AgentRef agent = {}) : gpu(agent ? agent : driver.gpus().front()) {}

    template <class Data>
    void launch(const Data& data, std::uint32_t count, std::uint32_t factor, std::uint32_t summand) {
        kernel.launch(stream, {.grid = (count + 63) / 64 * 64, .workgroup = 64}, data, factor, summand, count);
    }
    template <class Data>
    void run(const Data& data, std::uint32_t count, std::uint32_t factor, std::uint32_t summand) {
        launch(data, count, factor, summand);
        stream.synchronize(std::chrono::seconds(60));
    }

    hsadrv::Driver driver;
    hsadrv::Context gpu;
    hsadrv::Stream stream = gpu.stream();
    hsadrv::Executable code = hsadrv::Executable::load(gpu, test_support::test_file("stream.hsaco"));
    hsadrv::Kernel kernel = code.kernel("scale_add");
};
