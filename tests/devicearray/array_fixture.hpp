// Fixtures of the tests of device arrays.
#pragma once

#include <numeric>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "support/device.hpp"
#include "support/gate.hpp"

namespace array_test {

/// 0, 1, 2, …
inline std::vector<float> counting(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
}

}  // namespace array_test
