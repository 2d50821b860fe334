// Internal: how a queue waits for the value of a signal.
//
//   if (queues_take_barrier_value(agent)) packet = barrier_value(…);
//   else packet = barrier_and(Relay(…).opened()): a 0/1 signal that a thread of the runtime opens.
//
// Thread safety: a Relay belongs to one thread.
#pragma once

#include <functional>
#include <memory>

#include "hsadrv/agent.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/signal_callbacks.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

/// Whether the packet processor supports AMD's vendor packet BARRIER_VALUE. Those of gfx90a and gfx94x do; for others
/// neither IREE (physical_device_capabilities.c) nor ROCm's CLR (GPU_STREAMOPS_CP_WAIT) relies on it.
bool queues_take_barrier_value(AgentRef agent);

/// A signal that is one until the condition was seen to hold and `may_open` is true, then zero: what a BARRIER_AND
/// waits for, the next packet of the stream. It stays one, and the other signal is no longer read, if that packet is
/// lost, the stream's waits are cancelled, or this is destroyed without keep(). Borrows the other signal until then.
class Relay {
  public:
    Relay(SignalRef signal, Condition condition, std::int64_t value, std::function<bool()> may_open,
          std::shared_ptr<const Timeline> stream);
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;
    ~Relay();

    const std::shared_ptr<PooledSignal>& opened() const noexcept { return opened_; }
    /// Called when a packet waits for it.
    std::shared_ptr<PooledSignal> keep() noexcept;

  private:
    std::shared_ptr<PooledSignal> opened_;  // null: kept
    SignalCallbacks::Id id_;
};

}  // namespace hsadrv::detail
