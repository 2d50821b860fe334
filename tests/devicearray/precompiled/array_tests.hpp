// Precompiled for the tests of arrays, with all of their headers.
#ifndef PRECOMPILED_ARRAY_TESTS_HPP  // a compiler warns of "pragma once" in a file that it compiles
#define PRECOMPILED_ARRAY_TESTS_HPP

#include "devicearray/devicearray.hpp"
#include "support/precompiled/tests.hpp"

#endif
