// Precompiled for the tests through the HSA runtime's C API.
#ifndef PRECOMPILED_HSA_TESTS_HPP  // a compiler warns of "pragma once" in a file that it compiles
#define PRECOMPILED_HSA_TESTS_HPP

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "tests/support/precompiled/tests.hpp"

#endif
