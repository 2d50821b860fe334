// A device that runs the kernels of tests/shared/kernels, each in both languages, optimised or not.
//
//     Device device;
//     const Kernel kernel = device.kernel("wave_cl", "O2", "lanes");
#pragma once

#include <string>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "tests/support/device.hpp"
#include "tests/support/test_file.hpp"

struct Device : test_support::Device {
    hsadrv::Kernel kernel(const std::string& source, const std::string& level, const std::string& name) const {
        return hsadrv::Executable::load(gpu, test_support::test_file(source + "." + level + ".hsaco")).kernel(name);
    }
};
