// The end of a checked process: the summary, the JSON report, and an exit status of its own.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "check/process.hpp"
#include "kfd/device.hpp"

namespace kfdemu {
namespace {

void sum_up(int, void* starter) {
    using namespace check;
    // A child of fork() that runs no kernel has nothing to say.
    ProcessChecks& process = process_checks();
    const bool own = reinterpret_cast<std::intptr_t>(starter) == getpid();
    if (!own && process.report.coverage.dispatches == 0) return;
    const Options& options = Device::options();
    const std::string text = fmt::format("kfdemu[{}] {}", getpid(), process.report.summary(options.checks));
    // Not through stdio, which the program may have closed. Errors are ignored.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (!options.check_report.empty() && !process.report.write(options.check_report, options.checks))
        log(LogLevel::error, "cannot write {}: {}", options.check_report, std::strerror(errno));
    std::fflush(nullptr);
    if (process.report.distinct() != 0) _exit(kFoundStatus);
}

/// Runs when the library is loaded, before the program's own handlers are registered; so it ends after them.
[[gnu::constructor]] void watch_exit() {
    if (Device::topology() == nullptr || !Device::options().checks.any()) return;
    on_exit(sum_up, reinterpret_cast<void*>(static_cast<std::intptr_t>(getpid())));
}

}  // namespace
}  // namespace kfdemu
