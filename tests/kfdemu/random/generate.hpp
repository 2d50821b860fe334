// Random programs from a seed.
//
//     Program program = generate(1, 7);    // the seventh of seed 1: always the same one
//
// A third of them are straight lines. Thread safety: pure function.
#pragma once

#include "tests/kfdemu/random/program.hpp"

namespace random_programs {

Program generate(std::uint64_t seed, std::uint64_t number);

}  // namespace random_programs
