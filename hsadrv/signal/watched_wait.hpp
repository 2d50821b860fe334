// Internal: a host thread's wait for a stream's signal that polls meanwhile, because failures change no signal.
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

/// Returns when `try_wait`, which waits for so long, or `stop` returns true; that is called after 1 ms, then less and
/// less often, every poll_period at last. So a failure is seen after at most twice the time waited before it.
template <class TryWait, class Stop>
void watched_wait(TryWait&& try_wait, Stop&& stop) {
    std::chrono::milliseconds slice{1};
    while (!try_wait(slice)) {
        if (stop()) return;
        slice = std::min(2 * slice, poll_period);
    }
}

}  // namespace hsadrv::detail
