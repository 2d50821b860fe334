// The end of a checked process: the summary, the JSON report, and an exit status of its own.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <system_error>
#include <thread>

#include "base/companion.hpp"
#include "base/log.hpp"
#include "boundary/hsa_tool.hpp"
#include "check/process.hpp"
#include "kfd/device.hpp"

namespace kfdemu {
namespace {

void write_summary() {
    const check::ProcessChecks& process = check::process_checks();
    const Options& options = Device::options();
    const std::string text = fmt::format("kfdemu[{}] {}", getpid(), process.report.summary(options.checks));
    // Not through stdio, which the program may have closed. Errors are ignored.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (!options.check_report.empty() && !process.report.write(options.check_report, options.checks))
        log(LogLevel::error, "cannot write {}: {}", options.check_report, std::strerror(errno));
}

/// What only the end of the process tells.
void report_end() {
    report_leaks_now();
    check::ProcessChecks& process = check::process_checks();
    const bool wanted = process.checks().has(Check::memory) || process.checks().has(Check::leak);
    if (wanted && process.report.coverage.dispatches != 0 && !tool_was_loaded())
        process.report.note(
            "the HSA runtime has not loaded the emulator as a tool (HSA_TOOLS_LIB): the program's "
            "allocations are not known, and not checked");
}

void sum_up(int, void* starter) {
    check::ProcessChecks& process = check::process_checks();
    if (process.owner != getpid()) return;  // a child of clone()
    check::Report& report = process.report;
    report.settle();
    // A child of fork() that runs no kernel has nothing to say.
    const bool own = reinterpret_cast<std::intptr_t>(starter) == getpid();
    if (!own && report.coverage.dispatches == 0) return;
    report_end();
    write_summary();
    // A second exit(), in glibc, runs the other handlers and flushes the streams as the first would have, without
    // waiting for one that a thread has locked; only the status differs.
    if (report.distinct() != 0) std::exit(check::kFoundStatus);
}

/// --check-stop. Runs on any thread, so exit handlers do not run. Output is flushed by a thread that may hang: the
/// program may hold a stream's lock while it waits for input.
void stop_at_finding() {
    write_summary();
    std::promise<void> flushed;
    try {
        std::thread{[&] {
            std::fflush(nullptr);
            flushed.set_value();
        }}.detach();
        flushed.get_future().wait_for(std::chrono::seconds{1});
    } catch (const std::system_error&) {  // no further thread is allowed
    }
    _exit(check::kFoundStatus);
}

void configure(check::Report& report) {
    const Options& options = Device::options();
    report.set_limit(options.check_limit);
    report.set_suppressions(check::suppressions_of(options));
    if (options.check_stop) report.set_stop(stop_at_finding);
}

/// Makes the HSA runtime load our tool, beside the program's own ones, and place each allocation separately, with
/// unmapped pages around it.
void announce_allocations() {
    const std::string path = companion("libkfdemu-tool.so", "tool");
    if (path.empty())
        return log(LogLevel::error,
                   "check: libkfdemu-tool.so is not beside libkfdemu.so: memory and leak find nothing "
                   "about allocations");
    const char* tools = std::getenv("HSA_TOOLS_LIB");
    if (tools == nullptr || *tools == 0)
        setenv("HSA_TOOLS_LIB", path.c_str(), 1);
    else if (std::string_view{tools}.find(path) == std::string_view::npos)
        setenv("HSA_TOOLS_LIB", (path + " " + tools).c_str(), 1);
    setenv("HSA_TOOLS_REPORT_LOAD_FAILURE", "1", 0);  // of the program's own tools, which still run without
    setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 0);
}

/// Runs when the library is loaded, before the program's own handlers are registered; so it ends after them. Whether
/// there is a device is decided now only if there may be checks: otherwise at its first use.
[[gnu::constructor]] void watch_exit() {
    const char* options = std::getenv("KFDEMU");
    if (options == nullptr) return;
    if (std::strstr(options, "check") == nullptr && std::strstr(options, "suppress") == nullptr) return;
    if (Device::topology() == nullptr) return;
    configure(check::process_checks().report);
    const Checks checks = Device::options().checks;
    if (!checks.any()) return;
    on_exit(sum_up, reinterpret_cast<void*>(static_cast<std::intptr_t>(getpid())));
    if (checks.has(Check::memory) || checks.has(Check::leak) || checks.has(Check::init)) announce_allocations();
}

}  // namespace
}  // namespace kfdemu
