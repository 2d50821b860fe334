// Internal: sleeps until one of several signals may meet its condition, through handlers of the runtime.
//
//   signal_watches::sleep(terms, deadline);   // then check the terms
//
// For runtimes whose hsa_amd_signal_wait_any must not be called (signal_wait.cpp). A watch is one handler
// (hsa_amd_signal_async_handler) for one term; it wakes the threads that sleep on the term. The runtime cannot remove a
// handler, so a watch remains until its condition holds, and later sleeps on the same term use it again. The runtime
// keeps a watched signal's memory until then, also if the signal is destroyed; destroy_signal() ends its watches first.
// Thread safety: any thread. Memory ordering: none, the caller reads the signals.
#pragma once

#include <hsa/hsa.h>

#include <cstddef>
#include <span>

#include "hsadrv/deadline.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv::detail::signal_watches {

/// Returns when a term may hold, or at the deadline. The signals must raise interrupts. False: it cannot sleep, for
/// lack of memory.
bool sleep(std::span<const SignalTerm> terms, Deadline deadline) noexcept;

/// Whether the runtime has a handler for the signal. Its thread then counts as a waiter for the signal.
bool watched(SignalRef signal) noexcept;

std::size_t count() noexcept;  ///< watches of signals that are not destroyed

/// Every signal of this library is destroyed by it. If it is watched, its value changes first.
void destroy_signal(hsa_signal_t signal) noexcept;

/// The runtime is about to end: handles may name other signals from now on.
void forget_all() noexcept;

}  // namespace hsadrv::detail::signal_watches
