// Messages of the emulator, on stderr, a line each. Silent below the level asked for (KFDEMU=log=…).
//
//     log(LogLevel::info, "alloc {} B at {:#x}", size, va);
//
// Thread safety: any thread. Calls nothing that is interposed, and nothing at all below the level.
#pragma once

#include <fmt/core.h>

#include <string_view>

#include "base/options.hpp"

namespace kfdemu {

extern LogLevel log_level;  ///< set once, before there is a second thread of ours

void write_log(LogLevel level, std::string_view message);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (level > log_level) return;
    write_log(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace kfdemu
