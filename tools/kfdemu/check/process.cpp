#include "tools/kfdemu/check/process.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/check/report/code_objects.hpp"
#include "tools/kfdemu/check/report/report_file.hpp"

namespace kfdemu::check {
namespace {

/// One write per finding: those of several threads and processes do not mix. Errors (a closed stderr) are ignored.
void print(const std::string& text) {
    const std::string prefixed = "kfdemu[" + std::to_string(getpid()) + "] " + text;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, prefixed.data(), prefixed.size());
}

std::uint64_t now_ns() {
    using namespace std::chrono;
    return static_cast<std::uint64_t>(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
}

void resolve(Finding& finding) {
    locate(finding.at);
    for (Related& related : finding.related) locate(related.at);
    for (HostStack& stack : finding.stacks) stack.frames = host_frames(stack.id);
}

/// Once.
void tell_of_allocations(ProcessChecks& process, const Checks& checks) {
    if (!checks.has(Check::memory) && !checks.has(Check::leak)) return;
    if (process.announced.exchange(true)) return;
    process.report.note(
        "memory and leak: the HSA runtime has not loaded libkfdemu-tool.so, so the program's allocations are not "
        "known: "
        "KFDEMU has to name these checks when the program starts");
}

std::atomic<ProcessChecks*> made{nullptr};     // release when created
Report::Settings* parents_settings = nullptr;  // during a fork

}  // namespace

ProcessChecks::ProcessChecks() : report{print, resolve}, started_ns_{now_ns()} {}

bool ProcessChecks::checked_anything() const {
    const Totals totals = report.totals();
    return report.coverage.dispatches != 0 || totals.distinct != 0 || totals.suppressed != 0 || !report.notes().empty();
}

std::string ProcessChecks::write_report(const std::string& path, const Checks& checks) {
    const std::lock_guard lock{report_file_};
    const ProcessName name{owner, started_ns_, program_invocation_name};
    return add_to_report(path, identity(name),
                         to_json({report.findings(), report.notes(), report.totals(), name}, checks, report.coverage));
}

ProcessChecks& process_checks() {
    ProcessChecks* known = made.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto created = std::make_unique<ProcessChecks>();
    if (made.compare_exchange_strong(known, created.get(), std::memory_order_acq_rel)) known = created.release();
    return *known;
}

void before_fork() {
    if (ProcessChecks* process = made.load(std::memory_order_acquire))
        parents_settings = new Report::Settings{process->report.settings()};
}

void in_parent() { delete std::exchange(parents_settings, nullptr); }

void in_child() {
    if (parents_settings == nullptr) return;
    auto* fresh = new ProcessChecks;
    fresh->enabled.store(made.load(std::memory_order_relaxed)->enabled.load(std::memory_order_relaxed));
    fresh->report.set(std::move(*parents_settings));
    made.store(fresh, std::memory_order_release);
    forget_stacks();
    in_parent();
}

Suppressions suppressions_of(const Options& options) {
    Suppressions result;
    for (const std::string& path : options.suppressions) {
        std::ifstream file{path};
        std::ostringstream text;
        if (file) text << file.rdbuf();
        if (!file || file.bad()) {
            write_log(LogLevel::warning, fmt::format("suppress={}: cannot be read: nothing is suppressed by it", path));
            continue;
        }
        for (const std::string& error : result.add_lines(text.str(), path))
            write_log(LogLevel::warning, error + "; the line is ignored");
    }
    return result;
}

bool is_switched_on(Check what) {
    const ProcessChecks* process = made.load(std::memory_order_acquire);
    return process != nullptr && process->checks().has(what);
}

Session process_session() {
    ProcessChecks* process = made.load(std::memory_order_acquire);
    if (process == nullptr || process->enabled.load(std::memory_order_relaxed) == 0) return {};
    const Checks checks = process->checks();
    if (!process->announced.load(std::memory_order_relaxed)) tell_of_allocations(*process, checks);
    return {checks, &process->report, &process->allocations, process->fresh_memory.load(std::memory_order_relaxed)};
}

}  // namespace kfdemu::check
