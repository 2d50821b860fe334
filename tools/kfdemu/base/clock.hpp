// The emulated GPU's clock: a 100 MHz counter derived from the host's monotonic clock, as on MI-series GPUs.
#pragma once

#include <cstdint>
#include <ctime>

namespace kfdemu::clock {

inline std::uint64_t read_ns(clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The host clock from which the GPU's counter is derived (ktime_get_raw in the kernel).
inline std::uint64_t now_ns() { return read_ns(CLOCK_MONOTONIC_RAW); }

/// KFD's system clock, which includes time in suspend (ktime_get_boottime). The runtimes convert device times to it;
/// from ROCR 6 on they read it without the driver.
inline std::uint64_t system_ns() { return read_ns(CLOCK_BOOTTIME); }

/// The same moment on both clocks.
struct Pair {
    std::uint64_t now_ns, system_ns;
};

/// Reads both clocks three times and returns the pair read in the shortest interval: a thread may be preempted between
/// two reads, and the runtimes convert all device times from two such pairs.
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
