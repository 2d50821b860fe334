// The checks of this process: which are on, and what they have found.
//
//     dispatch.session = process_session();        // when a kernel starts
//     ProcessChecks& process = process_checks();    // to switch checks on, to read findings
//
// Thread safety: every function, any thread. Never destroyed: device threads outlive static objects.
#pragma once

#include <atomic>

#include "scene.hpp"

namespace kfdemu::check {

struct ProcessChecks {
    std::atomic<std::uint32_t> enabled{0};  ///< Checks::bits(); relaxed: kernels that start later see it
    Report report;
    Allocations allocations;
    std::atomic<bool> fresh_memory{false};  ///< relaxed: set before the memory can be used

    ProcessChecks();
    Checks checks() const { return Checks::of_bits(enabled.load(std::memory_order_relaxed)); }
};

ProcessChecks& process_checks();

/// Empty, at the cost of one load, if no check is on.
Session process_session();

/// What an emulated process's exit status is if anything was found.
inline constexpr int kFoundStatus = 99;

}  // namespace kfdemu::check
