// Finds memory that the host reads or writes while a kernel or a copy that uses it is in flight (`fence`): before it
// was told of the completion.
//
//     touches.rang(doorbell, value, now);                       // the host rings: seen before the store happens
//     touches.add({va, now, true, stack});                      // the host's first access of a page since then
//     touches.noticed(doorbell, value);                         // a queue has seen the doorbell
//     auto since = touches.rung(doorbell, value, exactly);      // when the host published up to there
//     touches.compare(work, since, now, report, allocations);   // it ends
//
// A kernel may talk to the host while it runs: one that uses atomics or looks for what others wrote, or stores with a
// single lane in a page that the host touches meanwhile, is not compared. Thread safety: every function, any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tools/kfdemu/check/fence/visibility.hpp"
#include "tools/kfdemu/check/report/host_stack.hpp"

namespace kfdemu::check {

class HostTouches {
  public:
    using Tick = Operations::Tick;
    using Doorbell = const volatile std::uint64_t*;

    struct Touch {
        std::uint64_t va = 0;
        Tick tick = 0;
        bool writes = false;
        StackId stack = kNoStack;
    };

    void rang(Doorbell doorbell, std::uint64_t value, Tick tick);
    void add(const Touch& touch);
    void noticed(Doorbell doorbell, std::uint64_t value);
    /// When that value was stored first, or a larger one; empty: not known. `exactly`: several producers ring, and a
    /// larger value says nothing of an earlier packet.
    std::optional<Tick> rung(Doorbell doorbell, std::uint64_t value, bool exactly);
    /// Of a queue that has stopped.
    void forget(Doorbell doorbell);

    /// A packet waits or runs while it exists.
    class Busy {
      public:
        Busy() = default;
        explicit Busy(HostTouches& of) : of_{&of} { of.in_flight_.fetch_add(1, std::memory_order_relaxed); }
        ~Busy() {
            if (of_ != nullptr) of_->in_flight_.fetch_sub(1, std::memory_order_relaxed);
        }
        Busy(Busy&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
        Busy& operator=(Busy&& other) noexcept {
            std::swap(of_, other.of_);
            return *this;
        }

      private:
        HostTouches* of_ = nullptr;
    };
    /// Nothing is in flight: touches need not be added.
    bool quiet();

    void compare(const Visibility::Work& work, Tick since, Tick until, Report& report, const Allocations* allocations);

  private:
    struct Bell {
        std::uint64_t value = 0;
        Tick tick = 0;
        bool noticed = false;
    };

    struct Rings {
        std::deque<Bell> bells;
        std::uint64_t noticed = 0;  ///< values below it are
    };

    std::vector<Touch> between(Tick since, Tick until);

    std::atomic<int> in_flight_{0};  // relaxed: a touch is not read through it
    std::mutex mutex_;
    std::map<Doorbell, Rings> rings_;
    std::deque<Touch> touches_;  // in the order of their ticks
};

}  // namespace kfdemu::check
