// Precompiled for the tests of the driver layer, with all of its headers.
#ifndef PRECOMPILED_HSADRV_TESTS_HPP  // compilers warn about "pragma once" in a main file
#define PRECOMPILED_HSADRV_TESTS_HPP

#include "hsadrv/hsadrv.hpp"
#include "tests/support/precompiled/tests.hpp"

#endif
