// Random arrays with the values that break things among them.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/kfdemu/differential/differential.hpp"

namespace differential {
std::vector<std::byte> inputs(Kind kind, Values values, std::size_t count, std::uint64_t seed);
}  // namespace differential
