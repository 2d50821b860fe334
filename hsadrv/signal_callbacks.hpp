// Host functions called when a signal meets a condition, on this library's thread rather than the runtime's.
//
//   hsadrv::SignalCallbacks& callbacks = driver.callbacks();
//   callbacks.on_signal(done, hsadrv::Condition::less, 1, [keep = buffer] { … });
//   callbacks.drain();                        // waits for those registered so far; throws what one of them threw
//
// One thread runs them one after another. It starts at the first registration and ends with the runtime. A function
// that blocks delays the others; one that waits for another callback deadlocks. Each runs exactly once, or never if it
// was cancelled or the runtime ended first; in either case it and its captures are destroyed. Order: callbacks found
// due by the same poll run in the order of their registration. So on a signal that only falls (or only rises),
// callbacks run in the order of their registration if no later one is due before an earlier one. Errors: a function may
// throw: the first exception is kept, and drain() and take_error() report it. Thread safety: any thread, including
// callbacks. Memory ordering: a callback sees what was written before the change of the signal that made it due.
// Borrows: the signal, until its callback has run or is cancelled; capture its owner. While a stream's callbacks wait,
// the thread polls five times a second, as a waiting thread does, for failures that raise no signal (a memory fault, a
// queue that stopped).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "hsadrv/deadline.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv {

class SignalCallbacks {
  public:
    /// Identifies a registration. Never reused.
    using Id = std::uint64_t;

    /// The thread's name, at most 15 characters, for debuggers.
    explicit SignalCallbacks(const char* thread_name = "hsadrv-callback");
    /// The thread calls `bell_rung`, which does not throw, when bell() was added to, by the host or a kernel: several
    /// additions may be one call, which sees what was written before them. It wakes at once on every runtime, since it
    /// waits for no other signal.
    SignalCallbacks(const char* thread_name, std::function<void()> bell_rung);
    SignalCallbacks(const SignalCallbacks&) = delete;
    SignalCallbacks& operator=(const SignalCallbacks&) = delete;
    /// Waits for the running function, unless that function destroys this object; waiting ones are dropped.
    ~SignalCallbacks();

    /// The signal to be added to. Borrowed: it ends with this object.
    SignalRef bell();

    /// Calls `function` once, as soon as the condition is seen to hold; at once (but on the callback thread) if it
    /// holds now. A condition that holds only briefly may be missed. Throws InvalidArgument without a signal or a
    /// function, OutOfMemory, ForkedChild. While it waits, the thread calls `meanwhile` five times a second, once for
    /// all registrations with that function, to poll for failures that raise no signal. `owner` and `mark` select it
    /// for hurry() and cancel_of().
    using Meanwhile = void (*)() noexcept;
    Id on_signal(SignalRef signal, Condition condition, std::int64_t than, std::function<void()> function,
                 Meanwhile meanwhile = nullptr, const void* owner = nullptr, std::uint64_t mark = UINT64_MAX);

    /// Makes the callbacks of that owner with marks from `from` on due, whatever the values of their signals. Takes one
    /// short lock; allocates nothing.
    void hurry(const void* owner, std::uint64_t from = 0) noexcept;

    /// True: the function has not been called and never will be. False: it has run; if it was running, it has returned,
    /// unless it is the caller itself; or this is a forked child, in which none runs.
    bool cancel(Id id);
    /// The same for all callbacks of that owner.
    void cancel_of(const void* owner);
    /// The same for those that are not running; does not wait.
    void drop_of(const void* owner);

    /// Returns when every callback registered before this call has run or is cancelled. Throws the first exception of a
    /// callback since the last report; Timeout, with the number of waiting callbacks; Error if called by a callback.
    void drain(Deadline deadline = {});

    /// The first exception since the last report, or null.
    std::exception_ptr take_error() noexcept;

    struct Counts {
        std::size_t waiting;    ///< registered, not due yet or not run yet
        std::uint64_t run;      ///< called, including those that threw
        std::uint64_t threw;    ///< those that threw
        std::uint64_t dropped;  ///< cancelled
    };
    Counts counts() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace hsadrv
