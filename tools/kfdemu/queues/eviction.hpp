// Eviction of the process from one GPU: after a memory fault there, none of its queues runs again.
//
//     if (Eviction::Turn turn{eviction}) …        // a queue or a kernel makes progress
//     eviction.fault(exception);                  // within a Turn: no new Turn begins; when all have ended,
//                                                 // the memory event is signalled
//
// The kernel driver unmaps all queues of the process before it signals the event (kfd_int_process_v9.c:
// kfd_dqm_evict_pasid, then kfd_signal_vm_fault_event). The eviction is never undone, and its structure lives as
// long as the process's mm: closing /dev/kfd does not restore the queues (kfd_process.c).
//
// Thread safety: every function, any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "tools/kfdemu/resources/events.hpp"

namespace kfdemu {

class Eviction {
  public:
    explicit Eviction(Events& events) : events_{events} {}

    /// If true, the GPU may make progress while this exists.
    class Turn {
      public:
        explicit Turn(Eviction& eviction) : eviction_{eviction}, taken_{eviction.enter()} {}
        ~Turn() {
            if (taken_) eviction_.leave();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        explicit operator bool() const { return taken_; }

      private:
        Eviction& eviction_;
        const bool taken_;
    };

    /// Acquire: a thread that sees true sees everything written before the fault.
    bool evicted() const { return evicted_.load(std::memory_order_acquire); }
    /// The caller must have a Turn.
    void fault(const abi::MemoryException& exception);

  private:
    bool enter();
    void leave();

    Events& events_;
    // Sequentially consistent: enter() counts before it reads evicted_; fault() sets evicted_ before turns_ is read.
    std::atomic<unsigned> turns_{0};
    std::atomic<bool> evicted_{false};
    std::mutex mutex_;
    std::vector<abi::MemoryException> untold_;
};

}  // namespace kfdemu
