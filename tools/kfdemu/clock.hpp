// The emulated GPU's clock: a 100 MHz counter that runs with the host's monotonic clock, as MI-series counters do.
#pragma once

#include <cstdint>
#include <ctime>

namespace kfdemu::clock {

/// The host's clock that the runtime correlates with (the kernel's ktime_get_raw).
inline std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

inline constexpr std::uint64_t kFrequencyHz = 100'000'000;

inline constexpr std::uint64_t ticks(std::uint64_t ns) { return ns / (1'000'000'000 / kFrequencyHz); }

/// The counter now.
inline std::uint64_t now() { return ticks(now_ns()); }

}  // namespace kfdemu::clock
