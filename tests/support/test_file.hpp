// The files that tests load, kernels above all: in the build folder, or where $HSADRV_TEST_FILES says.
//
//     const Executable code = Executable::load(gpu, test_support::test_file("stream.hsaco"));
//
// Thread safety: no state.
#pragma once

#include <string>

namespace test_support {

/// Its path. Where there is no such file it is a path all the same, for the message of whoever opens it.
std::string test_file(const std::string& name);

/// A number that test cases with random input begin theirs from: 0, or $HSADRV_TEST_SEED.
unsigned long test_seed();

}  // namespace test_support
