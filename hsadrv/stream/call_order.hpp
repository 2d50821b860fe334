// Internal: the order of the calls of a stream.
//
//   const auto held = order.lock(deadline);                 // a call that submits: when no other one has the order
//   { const CallOrder::Away away(order); signal.wait(…); }  // gives the mutex back while it waits, and keeps the order
//
// The stream's mutex guards data, and is never held across a wait: handlers, query(), polls and messages take it at any
// time. What waits, copies much memory or consists of several calls keeps the order instead, which only calls that
// submit take, and which may last. It is given to those that wait for it in turn.
//
// A host function does not wait for a thread that waits, perhaps for that very function: its calls go between. Nor does
// a call that adds what follows work that is enqueued already. It has the order meanwhile, and the thread goes on after
// that, or gives up at its deadline. So everything that was read before an Away may have changed after it.
//
// An operation may have parts on other streams, as the replay of a graph with branches has: wherever its thread waits,
// a host function's calls go between. They follow the parts that are enqueued, and later parts follow them.
//
// Thread safety: the mutex guards it, except lock().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hsadrv/deadline.hpp"
#include "hsadrv/stream/launch_lane.hpp"

namespace hsadrv::detail {

class CallOrder {
  public:
    class Composite;

    explicit CallOrder(LaneMutex& mutex) : mutex_(mutex) {}

    /// The mutex, when no other thread has the order; not owned if the deadline has passed. `joins`: it may go between,
    /// as a host function's call.
    std::unique_lock<LaneMutex> lock(Deadline deadline, bool joins = false);
    /// Whether this call is one of several of a Composite. With the mutex held.
    bool is_part() const noexcept;
    /// Returns when no other thread has the order, waits for it, or visits: each call ends by itself, as the stream has
    /// failed. No call may begin.
    void end() noexcept;
    /// Counts what goes between another thread's calls; with the mutex held.
    std::uint64_t passes() const noexcept { return passes_; }

    /// Whether another thread has the order, or waits for it. With the mutex held.
    bool is_wanted() const noexcept { return !is_left(); }

    /// A call that waits and submits nothing: end() waits for it, too, unless it is this thread's. Begins with the
    /// mutex held.
    class Visit {
      public:
        explicit Visit(CallOrder& order) noexcept : order_(order), below_(order.visits_) { order.visits_ = this; }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;
        ~Visit();

      private:
        friend CallOrder;
        CallOrder& order_;
        const std::thread::id owner_ = std::this_thread::get_id();
        Visit* below_;
    };

  private:
    /// A thread that has the order, or had it when another one passed it; in its Kept.
    struct Claim {
        std::thread::id owner = std::this_thread::get_id();
        bool passable = false;
        bool composite = false;
        Claim* below = nullptr;
    };

  public:
    /// Keeps the order, unless this thread has it. The mutex is held at both ends. Several may end in any order.
    class Kept {
      public:
        explicit Kept(CallOrder& order) noexcept;
        Kept(const Kept&) = delete;
        Kept& operator=(const Kept&) = delete;
        ~Kept();

        Claim& claim() noexcept { return *claim_; }

      private:
        CallOrder& order_;
        Claim own_;
        Claim* const claim_;  // own_, or an earlier one of this thread
        const Claim before_;
    };

    enum class While { waiting, working };
    /// The mutex is given back in its lifetime. At its end the deadline may pass while another thread has the order:
    /// then `late` is set, and the call may only end. One that joins goes between, as in lock(), and is never late.
    class Away {
      public:
        Away(CallOrder& order, Deadline deadline, bool& late, While what = While::waiting, bool joins = false) noexcept;
        Away(const Away&) = delete;
        Away& operator=(const Away&) = delete;
        ~Away();

      private:
        CallOrder& order_;
        const Deadline deadline_;
        bool& late_;
        const bool joins_, waits_;
        Kept kept_;
    };

    /// Keeps the order over several calls of this thread, each of which takes the mutex. `held` is given back. They end
    /// in the reverse order of their beginning.
    class Composite {
      public:
        Composite(CallOrder& order, std::unique_lock<LaneMutex> held) noexcept;
        Composite(const Composite&) = delete;
        Composite& operator=(const Composite&) = delete;
        ~Composite();

      private:
        friend CallOrder;
        void open(const CallOrder& but) noexcept;
        bool close(const CallOrder& but, Deadline deadline, bool joins) noexcept;

        CallOrder& order_;
        Composite* const outer_;  // of this thread
        std::optional<Kept> kept_;
    };

  private:
    /// A thread that waits for its turn; on its stack.
    struct Waiter {
        Waiter* next = nullptr;
    };

    Claim* mine() const noexcept;
    bool is_left() const noexcept;
    bool may_enter(const Waiter* me, bool passes) const noexcept;
    void changed() noexcept;
    void enter(Waiter& me) noexcept;
    void leave(Waiter& me) noexcept;

    LaneMutex& mutex_;
    Claim* top_ = nullptr;  // whose turn it is
    Waiter* first_ = nullptr;
    bool ends_ = false;
    Visit* visits_ = nullptr;
    std::uint64_t passes_ = 0;
    std::condition_variable_any changed_;
};

/// Throws Timeout: another thread has the order.
[[noreturn]] void throw_late(const char* call, Deadline deadline, const std::string& stream);

}  // namespace hsadrv::detail
