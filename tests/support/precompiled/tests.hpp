// Precompiled for test programs: Catch2, which takes longer to compile than most tests, and the standard
// library's usual headers. Only for speed: sources include what they use, and -Db_pch=false builds without.
#ifndef PRECOMPILED_TESTS_HPP  // compilers warn about "pragma once" in a main file
#define PRECOMPILED_TESTS_HPP

#include "tests/support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#endif
