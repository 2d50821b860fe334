#include "tools/kfdemu/base/log.hpp"

#include <unistd.h>

namespace kfdemu {

LogLevel log_level = LogLevel::error;

void write_log(LogLevel level, std::string_view message) {
    constexpr std::string_view names[] = {"", "error", "warning", "info", "debug"};
    const std::string line = fmt::format("kfdemu[{}] {}: {}\n", getpid(), names[static_cast<int>(level)], message);
    // One write per line: lines of several threads and processes do not mix. Errors (a closed stderr) are ignored.
    [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace kfdemu
