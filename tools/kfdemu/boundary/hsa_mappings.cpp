#include "tools/kfdemu/boundary/hsa_mappings.hpp"

#include <map>
#include <mutex>
#include <optional>

#include "tools/kfdemu/boundary/hsa_tool.hpp"

namespace kfdemu {
namespace {

using check::ObjectKind;
using hsa::Later;
using hsa::Status;

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

void made(ObjectKind kind, std::uint64_t handle, std::size_t bytes, check::StackId by) {
    if (finds_leaks()) objects().made({kind, handle}, {bytes, by});
}

/// Puts back what a failed call did not destroy.
void unless_done(Status status, ObjectKind kind, std::uint64_t handle, const std::optional<check::LiveObject>& object) {
    if (status != hsa::kSuccess && object) objects().made({kind, handle}, *object);
}

// Locked host memory.

/// Which addresses the device has for locked host memory. A range may be locked several times.
class Locks {
  public:
    void add(const void* host, std::uint64_t va) {
        const std::lock_guard lock{mutex_};
        all_.emplace(host, va);
    }
    std::optional<std::uint64_t> take(const void* host) {
        const std::lock_guard lock{mutex_};
        const auto found = all_.find(host);
        if (found == all_.end()) return std::nullopt;
        const std::uint64_t va = found->second;
        all_.erase(found);
        return va;
    }

  private:
    std::mutex mutex_;
    std::multimap<const void*, std::uint64_t> all_;
};

Locks& locks() {
    static auto* const instance = new Locks;  // outlives every exit handler
    return *instance;
}

Status (*next_lock)(void*, std::size_t, const void* agents, int count, void** out) = nullptr;
Status (*next_lock_to_pool)(void*, std::size_t, const void* agents, int count, hsa::Handle pool, std::uint32_t flags,
                            void** out) = nullptr;
Status (*next_unlock)(void*) = nullptr;

Status locked(Status status, const void* host, std::size_t bytes, void* const* out) {
    if (status != hsa::kSuccess || out == nullptr || *out == nullptr) return status;
    const check::StackId by = stack_of_caller();
    if (allocations().allocated_alone(address(*out), bytes, by)) locks().add(host, address(*out));
    made(ObjectKind::LockedRange, address(host), bytes, by);
    return status;
}

Status lock(void* host, std::size_t bytes, const void* agents, int count, void** out) {
    return locked(next_lock(host, bytes, agents, count, out), host, bytes, out);
}

Status lock_to_pool(void* host, std::size_t bytes, const void* agents, int count, hsa::Handle pool, std::uint32_t flags,
                    void** out) {
    return locked(next_lock_to_pool(host, bytes, agents, count, pool, flags, out), host, bytes, out);
}

Status unlock(void* host) {
    if (const auto va = locks().take(host)) allocations().forget(*va);
    const auto object = objects().take({ObjectKind::LockedRange, address(host)});
    const Status status = next_unlock(host);
    unless_done(status, ObjectKind::LockedRange, address(host), object);
    return status;
}

// Other processes' memory, and graphics buffers: mapped by one call, unmapped by another.

Status (*next_attach)(const void* handle, std::size_t, std::uint32_t count, const void* agents, void** out) = nullptr;
Status (*next_detach)(void*) = nullptr;
Status (*next_map_buffer)(std::uint32_t count, const void* agents, int handle, std::uint32_t flags, std::size_t* bytes,
                          void** out, std::size_t* metadata_bytes, const void** metadata) = nullptr;
Status (*next_unmap_buffer)(void*) = nullptr;

void mapped(ObjectKind kind, const void* memory, std::size_t bytes) {
    const check::StackId by = stack_of_caller();
    allocations().allocated(address(memory), bytes, by);
    made(kind, address(memory), bytes, by);
}

Status unmap_by(Status (*next)(void*), ObjectKind kind, void* memory) {
    const auto object = objects().take({kind, address(memory)});
    const Status status = next(memory);
    if (status == hsa::kSuccess) allocations().forget(address(memory));
    unless_done(status, kind, address(memory), object);
    return status;
}

Status attach(const void* handle, std::size_t bytes, std::uint32_t count, const void* agents, void** out) {
    const Status status = next_attach(handle, bytes, count, agents, out);
    if (status == hsa::kSuccess) mapped(ObjectKind::Attachment, *out, bytes);
    return status;
}

Status map_buffer(std::uint32_t count, const void* agents, int handle, std::uint32_t flags, std::size_t* bytes,
                  void** out, std::size_t* metadata_bytes, const void** metadata) {
    const Status status = next_map_buffer(count, agents, handle, flags, bytes, out, metadata_bytes, metadata);
    if (status == hsa::kSuccess) mapped(ObjectKind::GraphicsBuffer, *out, *bytes);
    return status;
}

Status detach(void* memory) { return unmap_by(next_detach, ObjectKind::Attachment, memory); }
Status unmap_buffer(void* memory) { return unmap_by(next_unmap_buffer, ObjectKind::GraphicsBuffer, memory); }

// Virtual memory: addresses are reserved, memory is created, and one is mapped at the other.

Status (*next_reserve)(void** out, std::size_t, std::uint64_t wanted, std::uint64_t flags) = nullptr;
Status (*next_reserve_align)(void** out, std::size_t, std::uint64_t wanted, std::uint64_t alignment,
                             std::uint64_t flags) = nullptr;
Status (*next_address_free)(void*, std::size_t) = nullptr;
Status (*next_create)(hsa::Handle pool, std::size_t, std::uint32_t type, std::uint64_t flags,
                      hsa::Handle* out) = nullptr;
Status (*next_release)(hsa::Handle) = nullptr;
Status (*next_map)(void*, std::size_t, std::size_t offset, hsa::Handle, std::uint64_t flags) = nullptr;
Status (*next_unmap)(void*, std::size_t) = nullptr;

Status reserved(Status status, void* const* out, std::size_t bytes) {
    if (status == hsa::kSuccess) made(ObjectKind::AddressRange, address(*out), bytes, stack_of_caller());
    return status;
}

Status reserve(void** out, std::size_t bytes, std::uint64_t wanted, std::uint64_t flags) {
    return reserved(next_reserve(out, bytes, wanted, flags), out, bytes);
}

Status reserve_align(void** out, std::size_t bytes, std::uint64_t wanted, std::uint64_t alignment,
                     std::uint64_t flags) {
    return reserved(next_reserve_align(out, bytes, wanted, alignment, flags), out, bytes);
}

/// The addresses may be anybody's afterwards.
Status address_free(void* memory, std::size_t bytes) {
    const auto object = objects().take({ObjectKind::AddressRange, address(memory)});
    const Status status = next_address_free(memory, bytes);
    if (status == hsa::kSuccess) allocations().forget(address(memory), bytes);
    unless_done(status, ObjectKind::AddressRange, address(memory), object);
    return status;
}

Status create(hsa::Handle pool, std::size_t bytes, std::uint32_t type, std::uint64_t flags, hsa::Handle* out) {
    const Status status = next_create(pool, bytes, type, flags, out);
    if (status == hsa::kSuccess) made(ObjectKind::MemoryHandle, out->value, bytes, stack_of_caller());
    return status;
}

Status release(hsa::Handle handle) {
    const auto object = objects().take({ObjectKind::MemoryHandle, handle.value});
    const Status status = next_release(handle);
    unless_done(status, ObjectKind::MemoryHandle, handle.value, object);
    return status;
}

Status map(void* memory, std::size_t bytes, std::size_t offset, hsa::Handle handle, std::uint64_t flags) {
    const Status status = next_map(memory, bytes, offset, handle, flags);
    if (status == hsa::kSuccess) mapped(ObjectKind::Mapping, memory, bytes);
    return status;
}

/// Freed, until its address range is: no other allocation can be at these addresses.
Status unmap(void* memory, std::size_t bytes) {
    const auto object = objects().take({ObjectKind::Mapping, address(memory)});
    const Status status = next_unmap(memory, bytes);
    if (status == hsa::kSuccess) allocations().freed(address(memory), stack_of_caller());
    unless_done(status, ObjectKind::Mapping, address(memory), object);
    return status;
}

}  // namespace

void wrap_mappings(hsa::Table& table) {
    const auto later = [&](Later function, auto ours, auto& next) {
        hsa::wrap(table.amd, hsa::later(table.amd, function), ours, next);
    };
    later(Later::memory_lock, &lock, next_lock);
    later(Later::memory_lock_to_pool, &lock_to_pool, next_lock_to_pool);
    later(Later::memory_unlock, &unlock, next_unlock);
    later(Later::ipc_memory_attach, &attach, next_attach);
    later(Later::ipc_memory_detach, &detach, next_detach);
    later(Later::interop_map_buffer, &map_buffer, next_map_buffer);
    later(Later::interop_unmap_buffer, &unmap_buffer, next_unmap_buffer);
    later(Later::vmem_address_reserve, &reserve, next_reserve);
    later(Later::vmem_address_reserve_align, &reserve_align, next_reserve_align);
    later(Later::vmem_address_free, &address_free, next_address_free);
    later(Later::vmem_handle_create, &create, next_create);
    later(Later::vmem_handle_release, &release, next_release);
    later(Later::vmem_map, &map, next_map);
    later(Later::vmem_unmap, &unmap, next_unmap);
}

}  // namespace kfdemu
