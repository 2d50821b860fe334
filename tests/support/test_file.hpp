// The files that tests load, kernels above all: in the build folder, or in $HSADRV_TEST_FILES.
//
//     const Executable code = Executable::load(gpu, test_support::test_file("stream.hsaco"));
//
// Thread safety: no state.
#pragma once

#include <string>

namespace test_support {

/// The file's path. Also a path if the file does not exist, for the caller's error message.
std::string test_file(const std::string& name);

/// The base seed of test cases with random input: $HSADRV_TEST_SEED, else the turn (turn.hpp).
unsigned long test_seed();

}  // namespace test_support
