// Internal: the state behind Driver, shared by every owner of an HSA object. Not part of the public interface.
//
// Thread safety: immutable after construction but for the pools and the registrations, which lock.
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

class QueuePool;
class Registrations;

class Runtime {
  public:
    /// The runtime, initialised if need be.
    static std::shared_ptr<Runtime> acquire();
    /// The runtime, or null if it is not up.
    static std::shared_ptr<Runtime> find() noexcept;

    Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime();

    const std::vector<AgentRef>& agents() const noexcept { return agents_; }
    const std::vector<AgentRef>& gpus() const noexcept { return gpus_; }
    const std::vector<AgentRef>& cpus() const noexcept { return cpus_; }
    const SystemFacts& facts() const noexcept { return facts_; }
    /// Throws InvalidArgument naming the call for an agent of no runtime, which ROCR would follow like any other.
    void require_known(const std::string& call, std::span<const AgentRef> agents) const;

    /// Recycles signals; shares its shelf, so a copy outlives nothing.
    SignalPool& signals() noexcept { return *signals_; }
    SignalCallbacks& callbacks() noexcept { return *callbacks_; }
    /// Gives copies to their engines; on a thread of its own, so that no user's function delays them.
    SignalCallbacks& copies() noexcept { return *copies_; }
    /// The streams' hardware queues.
    QueuePool& queues() noexcept { return *queues_; }

    /// Host ranges that are locked.
    Registrations& registrations() noexcept { return *registrations_; }

  private:
    void enumerate();

    std::vector<AgentRef> agents_, gpus_, cpus_;
    SystemFacts facts_{};
    std::uintptr_t event_handler_ = 0;
    std::unique_ptr<SignalPool> signals_;
    std::unique_ptr<SignalCallbacks> callbacks_, copies_;
    std::unique_ptr<Registrations> registrations_;
    std::unique_ptr<QueuePool> queues_;
};

}  // namespace hsadrv::detail
