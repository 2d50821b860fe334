// A hardware queue: something that the scheduler's workers serve whenever its doorbell may have been rung.
//
// Thread safety: service() is called by any worker, but by one at a time (the scheduler takes `serving`); the
// rest by any thread. stop() must not be called by a worker.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <span>

#include "base/abi.hpp"

namespace kfdemu {

class Queue {
  public:
    virtual ~Queue() = default;

    /// Does what can be done without waiting, for at most a millisecond or so; whether anything was done.
    virtual bool service() = 0;
    /// Ends what is under way and returns when nothing of the queue runs any more; it never runs again.
    virtual void stop() = 0;
    /// New ring, priority or percentage (0 suspends the queue); 0 or an errno value.
    virtual int update(const abi::UpdateQueue& args) = 0;

    /// Which compute units may run its waves, as bits; 0 or an errno value.
    virtual int set_cu_mask(std::span<const std::uint32_t> words) = 0;

    std::atomic_flag serving = ATOMIC_FLAG_INIT;
};

}  // namespace kfdemu
