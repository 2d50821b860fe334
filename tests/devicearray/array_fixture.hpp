// Fixtures of the tests of device arrays.
#pragma once

#include <numeric>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "tests/support/device.hpp"
#include "tests/support/gate.hpp"

namespace array_test {

/// 0, 1, 2, …
template <class T = float>
std::vector<T> counting(std::size_t count) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), T{});
    return values;
}

}  // namespace array_test
