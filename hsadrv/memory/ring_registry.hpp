// Internal: which memory is the ring of a queue that lives, for those who would adopt it, and free it under the queue.
//
//   ring_memory.is(native, agent);             // in the queue's state
//   if (RingRegistry::at(address)) refuse();
//
// A list through the queues themselves: nothing is allocated, and nothing is left when the last one is gone. Owns:
// nothing. Thread safety: any thread, one lock.
#pragma once

#include <cstddef>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

class RingRegistry {
  public:
    RingRegistry() noexcept = default;
    RingRegistry(const RingRegistry&) = delete;
    RingRegistry& operator=(const RingRegistry&) = delete;
    ~RingRegistry() { leave(); }

    /// From now on that queue's, in place of what it was.
    void is(const hsa_queue_t* queue, AgentRef agent) noexcept;
    /// No queue's: before that is destroyed.
    void leave() noexcept;
    /// Whether a ring begins there.
    static bool at(const void* address) noexcept;
    /// How many of the agent's queues had a packet.
    static std::size_t used(AgentRef agent) noexcept;

  private:
    const hsa_queue_t* queue_ = nullptr;
    AgentRef agent_;
    RingRegistry *before_ = nullptr, *after_ = nullptr;
};

}  // namespace hsadrv::detail
