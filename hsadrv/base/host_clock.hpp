// Internal: the runtime's system clock, in which devices report times, and the host's steady clock.
//
// Thread safety: any thread. Source: hsa.h, HSA_SYSTEM_INFO_TIMESTAMP.
#pragma once

#include <chrono>
#include <cstdint>

namespace hsadrv::detail {

/// So many ticks of the system clock.
std::chrono::nanoseconds duration_of(std::int64_t ticks);

/// One moment on both.
struct ClockPair {
    std::chrono::steady_clock::time_point host;
    std::uint64_t system;
    /// Right within a microsecond or so near that moment: both run at one rate.
    std::chrono::steady_clock::time_point host_time(std::uint64_t ticks) const {
        return host + duration_of(static_cast<std::int64_t>(ticks - system));
    }
};
ClockPair read_clocks();

/// The steady clock's reading at this reading of the system clock. Both run at one rate, so the offset is
/// sampled anew for each conversion: right within a microsecond or so.
std::chrono::steady_clock::time_point host_time(std::uint64_t ticks);

}  // namespace hsadrv::detail
