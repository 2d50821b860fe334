// Internal: a host wait for a stream's signal that also polls for failures, which change no signal.
//
//   watched_wait([&](auto slice) { return signal.try_wait(…, deadline.sliced(slice)); }, [&] { return failed(); });
//
// Thread safety: any thread. Memory ordering: the condition was seen by an acquiring load.
#pragma once

#include <algorithm>
#include <chrono>

namespace hsadrv::detail {

/// Blocked waits poll this often.
inline constexpr std::chrono::milliseconds poll_period{200};

/// Calls `try_wait`, which waits for the given time, and then `stop`, until one of them returns true. The time doubles
/// from 1 ms to poll_period, so a failure is seen after at most twice the time waited before it.
template <class TryWait, class Stop>
void watched_wait(TryWait&& try_wait, Stop&& stop) {
    std::chrono::milliseconds slice{1};
    while (!try_wait(slice)) {
        if (stop()) return;
        slice = std::min(2 * slice, poll_period);
    }
}

}  // namespace hsadrv::detail
