// Precompiled for the tests of arrays, with all of their headers.
#ifndef PRECOMPILED_ARRAY_TESTS_HPP  // compilers warn about "pragma once" in a main file
#define PRECOMPILED_ARRAY_TESTS_HPP

#include "devicearray/devicearray.hpp"
#include "tests/support/precompiled/tests.hpp"

#endif
