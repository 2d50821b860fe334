#include "hsadrv/base/host_clock.hpp"

#include <hsa/hsa.h>

#include <algorithm>

#include "hsadrv/error.hpp"

namespace hsadrv::detail {

namespace {

double nanoseconds_a_tick() {
    std::uint64_t hz = 0;
    check(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz), "hsa_system_get_info(TIMESTAMP_FREQUENCY)");
    return 1e9 / static_cast<double>(std::max<std::uint64_t>(hz, 1));
}

}  // namespace

std::chrono::nanoseconds duration_of(std::int64_t ticks) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(ticks) * nanoseconds_a_tick()));
}

ClockPair read_clocks() {
    using Clock = std::chrono::steady_clock;
    // The narrowest of a few samples: the thread may be preempted between the readings.
    Clock::duration narrowest = Clock::duration::max();
    ClockPair pair{};
    for (int i = 0; i < 3; ++i) {
        std::uint64_t now = 0;
        const auto before = Clock::now();
        check(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now), "hsa_system_get_info(TIMESTAMP)");
        const auto after = Clock::now();
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        pair = {before + (after - before) / 2, now};
    }
    return pair;
}

std::chrono::steady_clock::time_point host_time(std::uint64_t ticks) { return read_clocks().host_time(ticks); }

}  // namespace hsadrv::detail
