// Host functions that run when a signal meets a condition, on a thread of this library and not on the runtime's.
//
//   hsadrv::SignalCallbacks& callbacks = driver.callbacks();
//   callbacks.on_signal(done, hsadrv::Condition::less, 1, [keep = buffer] { … });
//   callbacks.drain();                        // all that are due have run; throws what one of them threw
//
// One thread, begun at the first registration and ended with the runtime, runs them one after another: a
// function that blocks delays the others, and one that waits for another callback waits for ever. Each runs
// exactly once, or never if it was cancelled or the runtime ended first; either way it is destroyed, and what
// it captured with it. Order: those that are due at one look run in the order of their registration. So on a
// signal that only falls (or only rises), callbacks run in the order of their registration if no later one is
// due before an earlier one. Errors: a function that throws does no harm: the first exception is kept,
// drain() and take_error() report it. Thread safety: any thread, callbacks themselves included. Memory
// ordering: a callback sees what was written before the change of the signal that made it due. Borrows: the
// signal, until its callback has run or is cancelled; capture what keeps it. A stream's callbacks do what a thread that
// waits for it does: while they wait, their thread looks around for what no signal announces (a memory fault, a queue
// that died), five times a second.
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
    /// Names a registration. Never given twice.
    using Id = std::uint64_t;

    /// The thread's name, of at most 15 characters, is for debuggers.
    explicit SignalCallbacks(const char* thread_name = "hsadrv-callback");
    SignalCallbacks(const SignalCallbacks&) = delete;
    SignalCallbacks& operator=(const SignalCallbacks&) = delete;
    /// Waits for the function that runs, unless it is the one that destroys this; those that wait are dropped.
    ~SignalCallbacks();

    /// Calls `function` once, as soon as the condition is seen to hold; at once (but on the other thread) if
    /// it holds now. A condition that holds only for a moment may be missed. Throws InvalidArgument without a
    /// signal or a function, OutOfMemory, ForkedChild. While it waits, the thread calls `meanwhile` five times a
    /// second, once for all registrations that name it: for what no signal announces.
    using Meanwhile = void (*)() noexcept;
    Id on_signal(SignalRef signal, Condition condition, std::int64_t than, std::function<void()> function,
                 Meanwhile meanwhile = nullptr, const void* owner = nullptr);

    /// The callbacks of that owner are due whatever their signals are. Takes one short lock; allocates nothing.
    void hurry(const void* owner) noexcept;

    /// True: the function has not been called and never will be. False: it has run; if it was running, it is
    /// over now, unless it is the caller itself.
    bool cancel(Id id);
    /// The same for all of that owner.
    void cancel_of(const void* owner);
    /// The same for those that are not running, and waits for none.
    void drop_of(const void* owner);

    /// Returns when every callback that was registered before this call has run or is cancelled. Throws the
    /// first exception that one of them threw since the last report; Timeout, with the number of those that
    /// wait; Error when called by a callback.
    void drain(Deadline deadline = {});

    /// The first exception since the last report, or null.
    std::exception_ptr take_error() noexcept;

    struct Counts {
        std::size_t waiting;    ///< registered, not due yet or not run yet
        std::uint64_t run;      ///< called, those that threw included
        std::uint64_t threw;    ///< of those
        std::uint64_t dropped;  ///< cancelled
    };
    Counts counts() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace hsadrv
