// The end of a checked process: the summary, the JSON report, and an exit status of its own.
#include <dlfcn.h>
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

/// Makes the HSA runtime load this library as a tool, beside the program's own ones, and place each allocation
/// separately, with unmapped pages around it.
void announce_allocations() {
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&announce_allocations), &self) == 0 || self.dli_fname == nullptr) return;
    const std::string path = self.dli_fname;
    const char* tools = std::getenv("HSA_TOOLS_LIB");
    if (tools == nullptr || *tools == 0)
        setenv("HSA_TOOLS_LIB", path.c_str(), 1);
    else if (std::string_view{tools}.find(path) == std::string_view::npos)
        setenv("HSA_TOOLS_LIB", (path + " " + tools).c_str(), 1);
    setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 0);
}

/// Runs when the library is loaded, before the program's own handlers are registered; so it ends after them. Whether
/// there is a device is decided now only if there may be checks: otherwise at its first use.
[[gnu::constructor]] void watch_exit() {
    const char* options = std::getenv("KFDEMU");
    if (options == nullptr || std::strstr(options, "check") == nullptr) return;
    if (Device::topology() == nullptr || !Device::options().checks.any()) return;
    on_exit(sum_up, reinterpret_cast<void*>(static_cast<std::intptr_t>(getpid())));
    if (Device::options().checks.has(Check::memory) || Device::options().checks.has(Check::init))
        announce_allocations();
}

}  // namespace
}  // namespace kfdemu
