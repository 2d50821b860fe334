// Internal: converts times of the runtime's system clock, in which devices report times, to the host's steady clock.
//
// Thread safety: any thread. Source: hsa.h, HSA_SYSTEM_INFO_TIMESTAMP.
#pragma once

#include <chrono>
#include <cstdint>

namespace hsadrv::detail {

/// The duration of `ticks` ticks of the system clock.
std::chrono::nanoseconds duration_of(std::int64_t ticks);

/// The same moment on both clocks.
struct ClockPair {
    std::chrono::steady_clock::time_point host;
    std::uint64_t system;
    /// Accurate to about a microsecond near that moment: both clocks run at the same rate.
    std::chrono::steady_clock::time_point host_time(std::uint64_t ticks) const {
        return host + duration_of(static_cast<std::int64_t>(ticks - system));
    }
};
ClockPair read_clocks();

/// The steady clock's time at `ticks` of the system clock. Samples the offset again for each conversion: accurate to
/// about a microsecond.
std::chrono::steady_clock::time_point host_time(std::uint64_t ticks);

}  // namespace hsadrv::detail
