// Precompiled for test programs: Catch2, which takes a compiler longer than most of our tests, and the standard
// library's usual headers. For speed alone: sources include what they use, and -Db_pch=false builds without.
#ifndef PRECOMPILED_TESTS_HPP  // a compiler warns of "pragma once" in a file that it compiles
#define PRECOMPILED_TESTS_HPP

#include "support/catch.hpp"

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
