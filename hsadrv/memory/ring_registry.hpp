// Internal: the memory of the rings of live queues, so that nothing adopts and frees it.
//
//   ring_memory.is(native, agent);             // in the queue's state
//   if (RingRegistry::at(address)) refuse();
//
// An intrusive list through the queues: no allocations, and empty when the last queue is destroyed. Owns: nothing.
// Thread safety: any thread, one lock.
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

    /// Registers the ring of that queue, in place of the previous one.
    void is(const hsa_queue_t* queue, AgentRef agent) noexcept;
    /// Unregisters the ring; call it before the queue is destroyed.
    void leave() noexcept;
    /// Whether a ring begins there.
    static bool at(const void* address) noexcept;
    /// How many of the agent's queues have ever received a packet.
    static std::size_t used(AgentRef agent) noexcept;

  private:
    const hsa_queue_t* queue_ = nullptr;
    AgentRef agent_;
    RingRegistry *before_ = nullptr, *after_ = nullptr;
};

}  // namespace hsadrv::detail
