// The program's own host memory, locked in place so that agents can use it.
//
//   hsadrv::Registration pinned(host.data(), host.size_bytes(), {gpu});   // unlocked at scope exit
//   void* at_gpu = pinned.device_address();
//   void* also = hsadrv::register_memory(host.data(), 100);               // or explicitly …
//   hsadrv::deregister_memory(host.data(), 100);                          // … in pairs
//
// Ranges may repeat, overlap, contain each other and touch: every registration counts separately, and its bytes stay
// locked at its device address until it is undone. The runtime alone does not ensure this: it forgets a lock's agents
// when a range is locked twice, and can undo neither of two locks that begin at the same address. Owns: Registration
// its registration; keeps the runtime alive. Ranges that are still registered are unlocked when the runtime ends. The
// memory must stay mapped while it is registered. If it is not, an agent that uses it has a memory fault; undoing the
// registration is still correct. No call waits for streams. Thread safety: any thread. Source: hsa_ext_amd.h,
// hsa_amd_memory_lock_to_pool; hsa.h, hsa_memory_register.
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

/// Locks a range of host memory and maps it for the agents (all GPUs if none are named). Returns the device address of
/// `host`. `kind`: as the host pool of that kind; coarse-grained is that of hsa_amd_memory_lock. Throws InvalidArgument
/// for an empty range, for pages that are not mapped, for memory that the runtime allocated (agents use it without
/// registration) and if none of the agents is a GPU; OutOfMemory.
void* register_memory(void* host, std::size_t size_bytes, std::span<const AgentRef> agents = {},
                      HostMemory kind = HostMemory::coarse_grained);

/// Undoes the latest register_memory that began at `host`, or the latest of that size there. Throws InvalidArgument,
/// and unlocks nothing, if there is none.
void deregister_memory(void* host, std::optional<std::size_t> size_bytes = {});

/// The HSA specification's registration: a hint that agents will use the range. It pins nothing and returns no device
/// address; ROCR ignores it. For systems where agents use any host memory in place. Throws InvalidArgument for an empty
/// range.
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
