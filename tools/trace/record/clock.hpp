// The trace's time, and the HSA runtime's in it.
#pragma once

#include <cstdint>
#include <ctime>

namespace trace {

/// Nanoseconds of CLOCK_BOOTTIME.
inline std::uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Converts the runtime's timestamps, in which it gives the times of packets and copies.
class SystemClock {
  public:
    SystemClock() = default;
    /// `ticks` was the runtime's timestamp at `at_ns`.
    SystemClock(std::uint64_t ticks, std::uint64_t at_ns, std::uint64_t frequency)
        : ticks_{ticks}, at_ns_{at_ns}, ns_per_tick_{1e9 / static_cast<double>(frequency)} {}

    std::uint64_t ns(std::uint64_t ticks) const {
        const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - ticks_));
        return at_ns_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(since * ns_per_tick_));
    }

  private:
    std::uint64_t ticks_ = 0, at_ns_ = 0;
    double ns_per_tick_ = 1;
};

}  // namespace trace
