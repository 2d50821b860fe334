// Whether the process still has a GPU: after a memory fault there, none of its queues runs any more.
//
//     if (Eviction::Turn turn{eviction}) …        // a queue or a kernel does something
//     eviction.fault(exception);                  // within a turn: no other turn begins, and when all have ended …
//                                                 // … the program is told
//
// The kernel driver unmaps all queues of the process before it signals the event (kfd_int_process_v9.c:
// kfd_dqm_evict_pasid, then kfd_signal_vm_fault_event). Nothing counts the eviction down again, and its structure lives
// as long as the process's memory map: closing /dev/kfd changes nothing (kfd_process.c).
//
// Thread safety: every function, any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "resources/events.hpp"

namespace kfdemu {

class Eviction {
  public:
    explicit Eviction(Events& events) : events_{events} {}

    /// Something of the GPU runs while this lives, if it says true.
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

    /// Acquire: who sees it sees what the fault left behind.
    bool evicted() const { return evicted_.load(std::memory_order_acquire); }
    /// The caller has a Turn.
    void fault(const abi::MemoryException& exception);

  private:
    bool enter();
    void leave();

    Events& events_;
    // Sequentially consistent: a turn is counted before it looks, an eviction looks after it is set.
    std::atomic<unsigned> turns_{0};
    std::atomic<bool> evicted_{false};
    std::mutex mutex_;
    std::vector<abi::MemoryException> untold_;
};

}  // namespace kfdemu
