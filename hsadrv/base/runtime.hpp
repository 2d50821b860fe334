// Internal: the state of the HSA runtime, shared by Driver and all owners of HSA objects.
//
// Thread safety: immutable after construction except for the pools, callbacks and registrations, which lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/driver.hpp"

namespace hsadrv {
class SignalCallbacks;
class SignalPool;
}  // namespace hsadrv

namespace hsadrv::detail {

class EngineRoom;
class KernelServices;
class QueuePool;
class Registrations;

class Runtime {
  public:
    /// The runtime, initialised if necessary.
    static std::shared_ptr<Runtime> acquire();
    /// The runtime, or null if it is not initialised.
    static std::shared_ptr<Runtime> find() noexcept;

    Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime();

    const std::vector<AgentRef>& agents() const noexcept { return agents_; }
    const std::vector<AgentRef>& gpus() const noexcept { return gpus_; }
    const std::vector<AgentRef>& cpus() const noexcept { return cpus_; }
    const SystemFacts& facts() const noexcept { return facts_; }
    /// Throws InvalidArgument, naming the call, for an unknown agent: ROCR would dereference its handle.
    void require_known(const std::string& call, std::span<const AgentRef> agents) const;

    /// The pool of reusable signals.
    SignalPool& signals() noexcept { return *signals_; }
    SignalCallbacks& callbacks() noexcept { return *callbacks_; }
    /// Submits copies to their engines, on a separate thread so that no user callback delays them.
    SignalCallbacks& copies() noexcept { return *copies_; }
    /// Destroys what destroyed streams kept, on a separate thread: destructors may wait for callbacks and for copies.
    SignalCallbacks& endings() noexcept { return *endings_; }
    const std::shared_ptr<EngineRoom>& engine_room() const noexcept { return engine_room_; }
    /// The streams' hardware queues.
    QueuePool& queues() noexcept { return *queues_; }

    /// What kernels ask of the host while they run.
    KernelServices& services() noexcept { return *services_; }

    /// Locked host ranges.
    Registrations& registrations() noexcept { return *registrations_; }

  private:
    void enumerate();
    void shut_down() noexcept;

    std::vector<AgentRef> agents_, gpus_, cpus_;
    SystemFacts facts_{};
    std::uintptr_t event_handler_ = 0;
    std::unique_ptr<SignalPool> signals_;
    std::shared_ptr<EngineRoom> engine_room_;
    std::unique_ptr<SignalCallbacks> callbacks_, copies_, endings_;
    std::unique_ptr<Registrations> registrations_;
    std::unique_ptr<QueuePool> queues_;
    std::unique_ptr<KernelServices> services_;
};

}  // namespace hsadrv::detail
