// Precompiled for the tests of the driver layer, with all of its headers.
#ifndef PRECOMPILED_HSADRV_TESTS_HPP  // a compiler warns of "pragma once" in a file that it compiles
#define PRECOMPILED_HSADRV_TESTS_HPP

#include "hsadrv/hsadrv.hpp"
#include "support/precompiled/tests.hpp"

#endif
