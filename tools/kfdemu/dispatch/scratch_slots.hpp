// The places in a queue's scratch memory: one for each wave that may be resident at once.
//
//     ScratchSlots slots{queue.scratch_waves()};
//     std::uint16_t taken[4];
//     if (slots.acquire(taken, 4)) { ...; slots.release(taken, 4); }
//
// All dispatches of a queue share one, as they share the memory (COMPUTE_TMPRING_SIZE.WAVES); make a new one
// when the runtime gave the queue other scratch memory. Thread safety: any thread. Memory ordering: who
// acquires a slot sees what its former user wrote there (the mutex).
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace kfdemu {

class ScratchSlots {
  public:
    explicit ScratchSlots(std::uint32_t count);

    /// All of `count` slots or none. Low numbers first, so that little memory is touched.
    bool acquire(std::uint16_t* slots, std::uint32_t count);
    void release(const std::uint16_t* slots, std::uint32_t count);

  private:
    std::mutex mutex_;
    std::vector<std::uint16_t> free_;  // used as a stack
};

}  // namespace kfdemu
