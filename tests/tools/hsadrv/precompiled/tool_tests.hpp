// Precompiled for the tests of the hsadrv command. For speed alone: sources include what they use, and -Db_pch=false
// builds without.
#ifndef PRECOMPILED_TOOL_TESTS_HPP  // a compiler warns of "pragma once" in a file that it compiles
#define PRECOMPILED_TOOL_TESTS_HPP

#include <fmt/format.h>

#include "hsadrv/hsadrv.hpp"
#include "tests/support/precompiled/tests.hpp"
#include "tools/common/json.hpp"

#endif
