// The emulator's log: one line per message on stderr, filtered by level (KFDEMU=log=…).
//
//     log(LogLevel::info, "alloc {} B at {:#x}", size, va);
//
// Thread safety: any thread. Calls no interposed function. A filtered message is not formatted.
#pragma once

#include <fmt/core.h>

#include <string_view>

#include "tools/kfdemu/base/options.hpp"

namespace kfdemu {

extern LogLevel log_level;  ///< set once, before the emulator starts a thread

void write_log(LogLevel level, std::string_view message);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (level > log_level) return;
    write_log(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace kfdemu
