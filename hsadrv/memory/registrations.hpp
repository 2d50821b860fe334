// Internal: the registrations of a runtime: the book and the runtime's locks.
//
// mutex_ guards only the book: the runtime locks and unlocks outside of it, under a name reserved for that time. Its
// pointer queries read lists that locking and unlocking frees (ROCR's Runtime::PtrInfo copies the thunk's list of nodes
// without the thunk's mutex), so runtime_mutex_ keeps queries and locking from overlapping. Thread safety: any thread.
// Lock order: runtime_mutex_, then mutex_.
#pragma once

#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>

#include "hsadrv/mem_pool.hpp"
#include "hsadrv/memory/registration_book.hpp"

namespace hsadrv::detail {

class Registrations {
  public:
    using Id = RegistrationBook::Id;

    Registrations() = default;
    Registrations(const Registrations&) = delete;
    Registrations& operator=(const Registrations&) = delete;
    /// Unlocks the remaining ranges. The runtime must still be up.
    ~Registrations();

    RegistrationBook::Entry add(void* host, std::size_t size_bytes, std::span<const AgentRef> agents, HostMemory kind,
                                bool scoped);
    void remove(Id id);
    std::optional<Id> latest(const void* host, std::optional<std::size_t> size_bytes) const;
    /// The lock that contains the pointer, as the host or agents see it.
    std::optional<HostLock> covering(const void* pointer) const;

    /// Held during pointer queries to the runtime.
    std::shared_lock<std::shared_mutex> querying() const { return std::shared_lock(runtime_mutex_); }

  private:
    RegistrationBook::Entry lock(const HostRange& range, bool scoped);
    void unlock(const HostLock& lock);

    mutable std::shared_mutex runtime_mutex_;
    mutable std::mutex mutex_;
    RegistrationBook book_;
};

}  // namespace hsadrv::detail
