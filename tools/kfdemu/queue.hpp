// A hardware queue: something that the scheduler's workers serve whenever its doorbell may have been rung.
//
// Thread safety: service() is called by any worker, but by one at a time (the scheduler takes `serving`); stop() is called
// once, by the thread that destroys the queue, after the scheduler forgot it.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi.hpp"

namespace kfdemu {

class Queue {
  public:
    virtual ~Queue() = default;

    /// Does what can be done without waiting, for at most a millisecond or so; whether anything was done.
    virtual bool service() = 0;
    /// Ends what is under way and returns when nothing of the queue runs any more.
    virtual void stop() = 0;
    /// New ring, priority or percentage (0 suspends the queue); 0 or an errno value.
    virtual int update(const abi::UpdateQueue& args) = 0;

    std::atomic_flag serving = ATOMIC_FLAG_INIT;
};

}  // namespace kfdemu
