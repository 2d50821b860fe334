// The emulated GPU's clock: a 100 MHz counter that runs with the host's monotonic clock, as MI-series counters do.
#pragma once

#include <cstdint>
#include <ctime>

namespace kfdemu::clock {

inline std::uint64_t read_ns(clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The host's clock that the device's own follows (the kernel's ktime_get_raw).
inline std::uint64_t now_ns() { return read_ns(CLOCK_MONOTONIC_RAW); }

/// What the kernel calls the system's clock, with the time of suspends in it (ktime_get_boottime): the runtimes
/// express device times in it, and from 6.x on read it without asking the kernel driver.
inline std::uint64_t system_ns() { return read_ns(CLOCK_BOOTTIME); }

/// One moment on both.
struct Pair {
    std::uint64_t now_ns, system_ns;
};

/// The tightest of a few readings: a thread may be held up between two clocks, and the runtimes reckon all of the
/// device's times from two such pairs.
inline Pair read_both() {
    Pair pair{};
    std::uint64_t narrowest_ns = UINT64_MAX;
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t before = now_ns(), system = system_ns(), apart_ns = now_ns() - before;
        if (apart_ns >= narrowest_ns) continue;
        narrowest_ns = apart_ns;
        pair = {before + apart_ns / 2, system};
    }
    return pair;
}

inline constexpr std::uint64_t kFrequencyHz = 100'000'000;

inline constexpr std::uint64_t ticks(std::uint64_t ns) { return ns / (1'000'000'000 / kFrequencyHz); }

/// The counter now.
inline std::uint64_t now() { return ticks(now_ns()); }

}  // namespace kfdemu::clock
