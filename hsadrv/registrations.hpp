// Internal: the registrations of a runtime, its book and the locks that it keeps there.
//
// The mutex guards the book alone: the runtime locks and unlocks outside of it, under a name that is reserved
// meanwhile, so that pinning a large range holds up nobody. Thread safety: any thread.
#pragma once

#include <mutex>
#include <optional>
#include <span>

#include "hsadrv/mem_pool.hpp"
#include "hsadrv/registration_book.hpp"

namespace hsadrv::detail {

class Registrations {
  public:
    using Id = RegistrationBook::Id;

    Registrations() = default;
    Registrations(const Registrations&) = delete;
    Registrations& operator=(const Registrations&) = delete;
    /// Unlocks what is left. The runtime is still up.
    ~Registrations();

    RegistrationBook::Entry add(void* host, std::size_t size_bytes, std::span<const AgentRef> agents,
                                HostMemory kind, bool scoped);
    void remove(Id id);
    std::optional<Id> latest(const void* host, std::optional<std::size_t> size_bytes) const;
    /// The lock that the pointer lies in, by the host's or the agents' view.
    std::optional<HostLock> covering(const void* pointer) const;

  private:
    RegistrationBook::Entry lock(const HostRange& range, bool scoped);
    void unlock(const HostLock& lock);

    mutable std::mutex mutex_;
    RegistrationBook book_;
};

}  // namespace hsadrv::detail
