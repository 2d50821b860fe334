// Signals kept for reuse, because making one costs 10 to 50 µs.
//
//   hsadrv::SignalPool pool;
//   std::shared_ptr<hsadrv::PooledSignal> done = pool.acquire(1);    // back in the pool with the last
//   reference
//
// Owns: the idle signals. A PooledSignal keeps the pool's storage alive, so it may outlive the SignalPool.
// Whoever holds a PooledSignal promises that no packet or copy in flight refers to it when the last reference
// goes. Thread safety: any thread; one short lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "hsadrv/signal.hpp"

namespace hsadrv {

namespace detail {
struct SignalShelf;
}

class PooledSignal {
  public:
    PooledSignal(const Driver& driver, std::shared_ptr<detail::SignalShelf> shelf,
                 hsa_signal_t signal) noexcept
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
    SignalPool();
    SignalPool(const SignalPool&) = delete;
    SignalPool& operator=(const SignalPool&) = delete;
    /// Destroys the idle signals; those handed out are destroyed when they come back.
    ~SignalPool();

    /// A signal with this value, reused or new. Throws OutOfMemory.
    std::shared_ptr<PooledSignal> acquire(std::int64_t initial);

    struct Counts {
        std::size_t live;  ///< handed out now
        std::size_t idle;  ///< waiting for reuse
        std::size_t peak;  ///< the most that were handed out at once
    };
    Counts counts() const;

  private:
    std::shared_ptr<detail::SignalShelf> shelf_;
};

}  // namespace hsadrv
