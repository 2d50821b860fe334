// Allocates the slots of a queue's scratch memory, one per resident wave.
//
//     ScratchSlots slots{queue.scratch.waves};
//     std::uint16_t taken[4];
//     if (slots.acquire(taken, 4)) { ...; slots.release(taken, 4); }
//
// All dispatches of a queue share one, as they share the memory (COMPUTE_TMPRING_SIZE.WAVES). When the runtime changes
// the queue's scratch memory, create a new one. Thread safety: any thread. Memory ordering: the thread that acquires a
// slot sees the writes of its previous user (the mutex).
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace kfdemu {

class ScratchSlots {
  public:
    explicit ScratchSlots(std::uint32_t count);

    /// Acquires all `count` slots or none. Prefers low numbers, so that little memory is used.
    bool acquire(std::uint16_t* slots, std::uint32_t count);
    void release(const std::uint16_t* slots, std::uint32_t count);

  private:
    std::mutex mutex_;
    std::vector<std::uint16_t> free_;  // used as a stack
};

}  // namespace kfdemu
