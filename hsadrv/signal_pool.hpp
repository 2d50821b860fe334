// Signals kept for reuse, because creating one costs 10 to 50 µs.
//
//   hsadrv::SignalPool pool;
//   std::shared_ptr<hsadrv::PooledSignal> done = pool.acquire(1);  // returned with the last reference
//
// A pool may have a budget: when that number of signals is handed out, acquire() waits until one is returned. Signals
// are scarce (KFD has 4096 events per process), and waiting here is better than a later call that fails. Owns: the idle
// signals. A PooledSignal keeps the pool's storage alive, so it may outlive the SignalPool. The holder of a
// PooledSignal must ensure that no packet or copy in flight refers to it when the last reference is dropped. Thread
// safety: any thread; one short lock. Errors: Timeout, with the pool's counts, at the deadline of a wait for the
// budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "hsadrv/deadline.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv {

namespace detail {
struct SignalShelf;
}

class PooledSignal {
  public:
    PooledSignal(const Driver& driver, std::shared_ptr<detail::SignalShelf> shelf, hsa_signal_t signal) noexcept
        : driver_(driver), shelf_(std::move(shelf)), signal_(SignalRef(signal)) {}
    PooledSignal(const PooledSignal&) = delete;
    PooledSignal& operator=(const PooledSignal&) = delete;
    ~PooledSignal();

    SignalRef ref() const noexcept { return signal_; }
    hsa_signal_t native() const noexcept { return signal_.native(); }

  private:
    DriverRef driver_;
    std::shared_ptr<detail::SignalShelf> shelf_;
    SignalRef signal_;
};

class SignalPool {
  public:
    static constexpr std::size_t no_budget = SIZE_MAX;

    /// `budget`: the maximum number of signals handed out at once. Throws InvalidArgument for zero.
    explicit SignalPool(std::size_t budget = no_budget);
    SignalPool(const SignalPool&) = delete;
    SignalPool& operator=(const SignalPool&) = delete;
    /// Destroys the idle signals; those handed out are destroyed when they are returned.
    ~SignalPool();

    /// A signal with this value, reused or new. Waits for the budget. Throws Timeout, OutOfMemory, ForkedChild.
    std::shared_ptr<PooledSignal> acquire(std::int64_t initial, Deadline deadline = {});
    /// The same; null when the budget is used up.
    std::shared_ptr<PooledSignal> try_acquire(std::int64_t initial);

    struct Counts {
        std::size_t live;     ///< handed out now
        std::size_t idle;     ///< waiting for reuse
        std::size_t peak;     ///< the maximum of live so far
        std::size_t budget;   ///< the maximum allowed, or no_budget
        std::uint64_t waits;  ///< calls of acquire() that had to wait for the budget
    };
    Counts counts() const;

  private:
    std::shared_ptr<PooledSignal> make(const Driver& driver, std::int64_t initial);

    std::shared_ptr<detail::SignalShelf> shelf_;
};

}  // namespace hsadrv
