// The interface of a hardware queue, which the scheduler's workers poll.
//
// Thread safety: service() from any worker, one at a time (the scheduler takes `serving`); other functions from any
// thread. stop() must not be called from a worker.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <span>

#include "tools/kfdemu/base/abi.hpp"

namespace kfdemu {

class Queue {
  public:
    virtual ~Queue() = default;

    /// Makes progress without blocking, for about a millisecond at most. Returns whether it made any.
    virtual bool service() = 0;
    /// Aborts running work and returns when it has ended. The queue never runs again.
    virtual void stop() = 0;
    /// Whether a packet is in progress.
    virtual bool busy() = 0;
    /// New ring, priority or percentage (0 suspends the queue); 0 or an errno value.
    virtual int update(const abi::UpdateQueue& args) = 0;

    /// Sets the mask of compute units that may run its waves; 0 or an errno value.
    virtual int set_cu_mask(std::span<const std::uint32_t> words) = 0;

    std::atomic_flag serving = ATOMIC_FLAG_INIT;
};

}  // namespace kfdemu
