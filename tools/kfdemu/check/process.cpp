#include "process.hpp"

#include <unistd.h>

#include <string>

#include "code_objects.hpp"

namespace kfdemu::check {
namespace {

/// One write per finding: those of several threads and processes do not mix. Errors (a closed stderr) are ignored.
void print(const std::string& text) {
    const std::string prefixed = "kfdemu[" + std::to_string(getpid()) + "] " + text;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, prefixed.data(), prefixed.size());
}

std::atomic<ProcessChecks*> made{nullptr};  // release when created

}  // namespace

ProcessChecks::ProcessChecks() : report{print, locate} {}

ProcessChecks& process_checks() {
    static ProcessChecks* const instance = [] {
        auto* created = new ProcessChecks;
        made.store(created, std::memory_order_release);
        return created;
    }();
    return *instance;
}

Session process_session() {
    ProcessChecks* process = made.load(std::memory_order_acquire);
    if (process == nullptr || process->enabled.load(std::memory_order_relaxed) == 0) return {};
    return {process->checks(), &process->report, &process->allocations,
            process->fresh_memory.load(std::memory_order_relaxed)};
}

}  // namespace kfdemu::check
