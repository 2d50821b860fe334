// Precompiled for the parts of the emulated GPU. For speed alone: sources include what they use, and -Db_pch=false
// builds without.
#ifndef PRECOMPILED_KFDEMU_HPP  // a compiler warns of "pragma once" in a file that it compiles
#define PRECOMPILED_KFDEMU_HPP

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#endif
