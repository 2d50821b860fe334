// Internal: how a thread waits for signals: spin, then sleep, and look again whenever something may have changed.
//
// The runtime lets one thread a signal sleep; every further one it keeps spinning
// (core/runtime/interrupt_signal.cpp, "Allow only the first waiter to sleep"). So the first of this library's
// threads that waits for a signal sleeps in the runtime; those who wait for the same condition sleep until it
// returns, and those who wait for another one nap and look. Signals that raise no interrupt
// (HSA_ENABLE_INTERRUPT=0, or the events are used up) are napped for as well. Thread safety: any thread.
// Memory ordering: a term that holds was seen by an acquiring load.
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

/// Spins for a moment; then returns the value that met the condition, or nothing at the deadline and in a forked child.
std::optional<std::int64_t> wait_one(SignalRef signal, Condition condition, std::int64_t than,
                                     Deadline deadline) noexcept;

/// The index of the first term that was seen to hold. Terms may repeat a signal. Needs memory for long lists,
/// and makes do with naps if there is none.
std::optional<std::size_t> wait_any(std::span<const SignalTerm> terms, Deadline deadline) noexcept;

/// "< 1"
std::string condition_text(Condition condition, std::int64_t than);

/// Waits that become longer: for what nobody announces. A nap is about a sixteenth of the time waited so far,
/// 1 ms at most.
class Backoff {
  public:
    void take(Deadline deadline) noexcept;

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hsadrv::detail
