// Precompiled for the two libraries: the HSA runtime and the standard library. For speed alone: sources include what
// they use, and -Db_pch=false builds without.
#ifndef PRECOMPILED_HSA_HPP  // a compiler warns of "pragma once" in a file that it compiles
#define PRECOMPILED_HSA_HPP

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#endif
