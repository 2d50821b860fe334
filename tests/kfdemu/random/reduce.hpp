// The smallest program found that still differs.
//
//     Reduced small = reduce({program, what}, setting, "/tmp/work/r", "clang-19", deadline);
//
// Each round compiles all candidates with a part removed as one file. Thread safety: as Unit.
#pragma once

#include <chrono>

#include "tests/kfdemu/random/unit.hpp"

namespace random_programs {

struct Reduced {
    Program program;
    std::string what;  ///< differs
};

Reduced reduce(Reduced reduced, const Setting& setting, const std::string& path, const std::string& host_clang,
               std::chrono::steady_clock::time_point until);

}  // namespace random_programs
