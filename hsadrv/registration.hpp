// Host memory of the program's own, locked where it is so that agents can use it.
//
//   hsadrv::Registration pinned(host.data(), host.size_bytes(), {gpu});   // unlocked at scope exit
//   void* at_gpu = pinned.device_address();
//   void* also = hsadrv::register_memory(host.data(), 100);               // or by hand …
//   hsadrv::deregister_memory(host.data(), 100);                          // … in pairs
//
// Ranges may repeat, overlap, contain each other and touch: every registration counts by itself, and its
// bytes stay locked at its device address until it is undone. The runtime alone does not see to that: it
// forgets a lock's agents when a range is locked twice, and can undo neither of two locks that begin at one
// address. Owns: Registration its registration, and keeps the runtime alive. What register_memory registered
// and nobody undid is unlocked with the runtime. The memory must stay mapped meanwhile; an agent that uses it
// when it is not has a memory fault, and undoing the registration is still right. None of the calls waits for
// streams. Thread safety: any thread. Source: hsa_ext_amd.h, hsa_amd_memory_lock_to_pool; hsa.h, hsa_memory_register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "hsadrv/agent.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/mem_pool.hpp"

namespace hsadrv {

/// Locks a range of host memory and maps it for the agents (all GPUs if none are named). Returns the address
/// at which they see `host`. `kind`: as the host pool of that kind, coarse-grained as hsa_amd_memory_lock has
/// it. Throws InvalidArgument for an empty range, for pages that are not mapped, for memory that the runtime
/// allocated (agents use that as it is) and for agents none of which is a GPU; OutOfMemory.
void* register_memory(void* host, std::size_t size_bytes, std::span<const AgentRef> agents = {},
                      HostMemory kind = HostMemory::coarse_grained);

/// Undoes the latest register_memory that began at `host`, or the latest of that size there. Throws
/// InvalidArgument when there is none; nothing is unlocked then.
void deregister_memory(void* host, std::optional<std::size_t> size_bytes = {});

/// The HSA specification's own form: a hint that agents will use the range. It pins nothing and gives no
/// device address; ROCR does nothing at all. For programs on systems where agents use any host memory in
/// place. Throws InvalidArgument for an empty range.
void register_hint(void* host, std::size_t size_bytes);
void deregister_hint(void* host, std::size_t size_bytes);

/// register_memory for a scope.
class Registration {
  public:
    Registration() noexcept = default;
    Registration(void* host, std::size_t size_bytes, std::span<const AgentRef> agents = {},
                 HostMemory kind = HostMemory::coarse_grained);
    Registration(void* host, std::size_t size_bytes, std::initializer_list<AgentRef> agents,
                 HostMemory kind = HostMemory::coarse_grained)
        : Registration(host, size_bytes, std::span(agents.begin(), agents.size()), kind) {}

    explicit operator bool() const noexcept { return bool(id_); }
    void* host() const noexcept { return id_ ? host_ : nullptr; }
    void* device_address() const noexcept { return id_ ? device_address_ : nullptr; }
    std::size_t size_bytes() const noexcept { return id_ ? size_bytes_ : 0; }

  private:
    struct Traits {
        using Native = std::uint64_t;
        static Native null() noexcept { return 0; }
        static bool is_null(Native id) noexcept { return id == 0; }
        static void destroy(Native id) noexcept;
    };
    UniqueHandle<Traits> id_;
    void* host_ = nullptr;
    void* device_address_ = nullptr;
    std::size_t size_bytes_ = 0;
};

}  // namespace hsadrv
