// The checks of this process: which are on, and what they have found.
//
//     dispatch.session = process_session();        // when a kernel starts
//     ProcessChecks& process = process_checks();    // to switch checks on, to read findings
//
// Thread safety: every function, any thread. Never destroyed: device threads outlive static objects.
#pragma once

#include <unistd.h>

#include <atomic>

#include "tools/kfdemu/base/options.hpp"
#include "tools/kfdemu/check/fence/host_touches.hpp"
#include "tools/kfdemu/check/fence/visibility.hpp"
#include "tools/kfdemu/check/flow/scene.hpp"
#include "tools/kfdemu/check/leak/live_objects.hpp"
#include "tools/kfdemu/check/race/operations.hpp"

namespace kfdemu::check {

struct ProcessChecks {
    std::atomic<std::uint32_t> enabled{0};  ///< Checks::bits(); relaxed: kernels that start later see it
    Report report;
    Allocations allocations;
    LiveObjects objects;
    Operations operations;
    Visibility visibility;
    HostTouches host_touches;
    std::atomic<bool> fresh_memory{false};  ///< relaxed: set before the memory can be used

    /// Whether ROCR has loaded the tool that announces allocations.
    std::atomic<bool> announced{false};
    const pid_t owner = getpid();

    ProcessChecks();
    Checks checks() const { return Checks::of_bits(enabled.load(std::memory_order_relaxed)); }
    /// Whether there is anything to say at the end.
    bool checked_anything() const;
    /// Brings --check-report's file up to date. "" or an error text.
    std::string write_report(const std::string& path, const Checks& checks);

  private:
    const std::uint64_t started_ns_;
    std::mutex report_file_;
};

ProcessChecks& process_checks();

/// A child of fork() has the same checks, and has found nothing. It leaks its parent's findings and allocations, whose
/// locks may be held by threads that it does not have. One thread forks at a time.
void before_fork();
void in_parent();
void in_child();

/// Reads the options' suppression files. Warns of a file or a line that is wrong, and goes on without it.
Suppressions suppressions_of(const Options& options);

/// Empty, at the cost of one load, if no check is on. A kernel or a copy starts: by then the tool was loaded.
Session process_session();
/// At any time.
bool is_switched_on(Check what);

/// What an emulated process's exit status is if anything was found.
inline constexpr int kFoundStatus = 99;

}  // namespace kfdemu::check
