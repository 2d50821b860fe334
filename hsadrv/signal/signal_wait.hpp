// Internal: host waits for signals: spin, then sleep, and check again after each wake-up.
//
// The runtime lets only one thread per signal sleep; any other waiter spins (core/runtime/interrupt_signal.cpp, "Allow
// only the first waiter to sleep"). So the first of this library's threads that waits for a signal sleeps in the
// runtime. Further threads that wait for the same condition sleep until the first one returns; those that wait for
// another condition poll between short sleeps. So do waiters for signals that raise no interrupt
// (HSA_ENABLE_INTERRUPT=0, or the runtime has no more events). Thread safety: any thread. Memory ordering: a term
// that holds was read by an acquire load.
#pragma once

#include <hsa/hsa.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "hsadrv/deadline.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv::detail {

/// Spins briefly, then sleeps. Returns the value that met the condition; std::nullopt at the deadline and in a forked
/// child.
std::optional<std::int64_t> wait_one(SignalRef signal, Condition condition, std::int64_t than,
                                     Deadline deadline) noexcept;

/// The index of the first term that was seen to hold. Terms may repeat a signal. Allocates for long lists; if that
/// fails, it polls.
std::optional<std::size_t> wait_any(std::span<const SignalTerm> terms, Deadline deadline) noexcept;

/// "< 1"
std::string condition_text(Condition condition, std::int64_t than);

/// Increasing sleeps between polls, for changes that raise no interrupt. A sleep is about a sixteenth of the time
/// waited so far, at most 1 ms.
class Backoff {
  public:
    void take(Deadline deadline) noexcept;

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hsadrv::detail
