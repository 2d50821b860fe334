// Internal: the order of the calls of a stream.
//
//   const auto held = order.lock(deadline);                 // a call that submits: when no other one has the order
//   { const CallOrder::Away away(order); signal.wait(…); }  // gives the mutex back while it waits, and keeps the order
//
// The stream's mutex guards data, and is never held across a wait: handlers, query(), polls and messages take it at any
// time. What waits, copies much memory or consists of several calls keeps the order instead, which only calls that
// submit take, and which may last. It is given to those that wait for it in turn.
//
// A host function does not wait for a thread that waits, perhaps for that very function, or whose call consists of
// several: its calls go between. It has the order meanwhile, and the thread goes on after that. So everything that was
// read before an Away may have changed after it.
//
// Thread safety: the mutex guards it, except lock().
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "hsadrv/deadline.hpp"
#include "hsadrv/stream/launch_lane.hpp"

namespace hsadrv::detail {

class CallOrder {
  public:
    explicit CallOrder(LaneMutex& mutex) : mutex_(mutex) {}

    /// The mutex, when no other thread has the order; not owned if the deadline has passed.
    std::unique_lock<LaneMutex> lock(Deadline deadline);
    /// Whether this call is one of several of a Composite. With the mutex held.
    bool is_part() const noexcept { return state_.composite && is_mine(); }

  private:
    struct State {
        std::thread::id owner = {};  ///< none: no call is away
        bool passable = false;       ///< for host functions
        bool composite = false;
    };

  public:
    /// Keeps the order, unless this thread has it. The mutex is held at both ends.
    class Kept {
      public:
        explicit Kept(CallOrder& order) noexcept;
        Kept(const Kept&) = delete;
        Kept& operator=(const Kept&) = delete;
        ~Kept();

      private:
        CallOrder& order_;
        const State before_;  // a host function's: whose it goes between
    };

    enum class While { waiting, working };
    /// The mutex is given back in its lifetime.
    class Away {
      public:
        explicit Away(CallOrder& order, While what = While::waiting) noexcept;
        Away(const Away&) = delete;
        Away& operator=(const Away&) = delete;
        ~Away();

      private:
        CallOrder& order_;
        const Kept kept_;
    };

    /// Keeps the order over several calls of this thread, each of which takes the mutex. `held` is given back.
    class Composite {
      public:
        Composite(CallOrder& order, std::unique_lock<LaneMutex> held) noexcept;
        Composite(const Composite&) = delete;
        Composite& operator=(const Composite&) = delete;
        ~Composite();

      private:
        CallOrder& order_;
        std::optional<Kept> kept_;
    };

  private:
    /// A thread that waits for its turn; on its stack.
    struct Waiter {
        Waiter* next = nullptr;
    };

    bool is_mine() const noexcept { return state_.owner == std::this_thread::get_id(); }
    bool may_enter(const Waiter* me) const noexcept;
    void set(const State& state) noexcept;
    void enter(Waiter& me) noexcept;
    void leave(Waiter& me) noexcept;

    LaneMutex& mutex_;
    State state_;
    Waiter* first_ = nullptr;
    std::condition_variable_any changed_;
};

}  // namespace hsadrv::detail
