// The end of a checked process: the summary, the JSON report, and an exit status of its own.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <system_error>
#include <thread>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/companion.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/boundary/count_exit.hpp"
#include "tools/kfdemu/boundary/hsa_objects.hpp"
#include "tools/kfdemu/boundary/hsa_tool.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/check/report/report_file.hpp"
#include "tools/kfdemu/kfd/device.hpp"

namespace kfdemu {
namespace {

constexpr int kNotWrittenStatus = 2;  ///< as for options that are wrong

/// Said once: the file is written at each finding.
void tell_unwritable(const Options& options, const std::string& error) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true))
        write_log(LogLevel::error, fmt::format("check-report={}: cannot be written: {}", options.check_report, error));
}

/// False: it cannot be written.
bool write_report() {
    const Options& options = Device::options();
    if (options.check_report.empty() || !check::process_checks().checked_anything()) return true;
    const std::string error = check::process_checks().write_report(options.check_report, options.checks);
    if (!error.empty()) tell_unwritable(options, error);
    return error.empty();
}

bool write_summary() {
    const check::Report& report = check::process_checks().report;
    const std::string text = fmt::format("kfdemu[{}] {}", getpid(), report.summary(Device::options().checks));
    // Not through stdio, which the program may have closed. Errors are ignored.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    return write_report();
}

bool had_children() {
    rusage usage{};
    return getrusage(RUSAGE_CHILDREN, &usage) == 0 && usage.ru_maxrss != 0;
}

/// A process without kernels has nothing to say, unless it is the only one of `kfdemu run`.
bool is_silent(const check::ProcessChecks& process) {
    if (process.checked_anything()) return false;
    return Device::options().check_first != getpid() || had_children();
}

/// The exit status; 0: that of the program.
int sum_up() {
    check::ProcessChecks& process = check::process_checks();
    if (process.owner != getpid()) return 0;  // a child of clone()
    process.report.settle();
    report_leaks_now();
    if (is_silent(process)) return 0;
    const bool written = write_summary();
    if (process.report.distinct() != 0) return check::kFoundStatus;
    return written ? 0 : kNotWrittenStatus;
}

void finish() {
    // A second exit(), in glibc, runs the other handlers and flushes the streams as the first would have, without
    // waiting for one that a thread has locked; only the status differs.
    if (const int status = sum_up(); status != 0) std::exit(status);
}

/// Registered first, it is the last of the handlers of quick_exit().
void finish_quickly() {
    if (const int status = sum_up(); status != 0) std::_Exit(status);
}

/// --check-stop. Runs on any thread, so exit handlers do not run. Output is flushed by a thread that may hang: the
/// program may hold a stream's lock while it waits for input.
void stop_at_finding() {
    write_summary();
    write_counters();
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

void configure(check::Report& report, const Options& options) {
    report.set({.suppressions = check::suppressions_of(options),
                .limit = options.check_limit,
                .stop = options.check_stop ? stop_at_finding : std::function<void()>{},
                .on_finding = options.check_report.empty() ? std::function<void()>{} : [] { write_report(); }});
}

/// Makes the HSA runtime load our tool, beside the program's own ones, and place each allocation separately, with
/// unmapped pages around it.
void announce_allocations() {
    const std::string path = companion("libkfdemu-tool.so", "tool");
    if (path.empty())
        return log(LogLevel::error,
                   "check: libkfdemu-tool.so is not beside libkfdemu.so: memory and leak find nothing "
                   "about allocations");
    add_tool(path);
    setenv("HSA_TOOLS_REPORT_LOAD_FAILURE", "1", 0);  // of the program's own tools, which still run without
    setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 0);
}

void prepare_checks(const Options& options) {
    configure(check::process_checks().report, options);
    if (!options.checks.any()) return;
    std::atexit(finish);
    std::at_quick_exit(finish_quickly);
    if (wants_allocations(options.checks)) announce_allocations();
    // The HSA runtime's host memory is then in a device file, whose pages can be watched.
    if (options.checks.has(Check::fence)) setenv("HSA_USERPTR_FOR_PAGED_MEM", "0", 0);
    if (options.check_report.empty()) return;
    if (const std::string error = check::try_report(options.check_report); !error.empty())
        tell_unwritable(options, error);
}

/// When there is a device, which the first use decides.
void prepare(const Options& options) {
    if (options.behaviours.has(Behaviour::torn_packet))
        if (const std::string tool = companion("libkfdemu-tool.so", "tool"); !tool.empty()) add_tool(tool);
    prepare_checks(options);
    prepare_counters(options);  // last: the end of checks may end the process
}

/// Runs when the library is loaded. If there may be checks or counters, decides now: before the program's own exit
/// handlers are registered, which then run before ours, and before the HSA runtime looks for tools.
[[gnu::constructor]] void watch_exit() {
    Device::on_decision(prepare);
    const char* options = std::getenv("KFDEMU");
    if (options == nullptr) return;
    for (const char* word : {"check", "suppress", "counters"})
        if (std::strstr(options, word) != nullptr) Device::topology();
}

}  // namespace
}  // namespace kfdemu
