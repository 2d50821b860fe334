#include "hsadrv/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "hsadrv/base/agents.hpp"
#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/departure.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory/global_flags.hpp"
#include "hsadrv/memory/mapped_ranges.hpp"
#include "hsadrv/memory/registrations.hpp"
#include "hsadrv/memory/ring_registry.hpp"

namespace hsadrv {

namespace {

std::string labels_of(std::span<const AgentRef> agents) {
    std::string text;
    for (const AgentRef agent : agents) text += (text.empty() ? "" : ", ") + agent.label();
    return text;
}

using detail::hex;
using detail::call_log::Area;
using detail::call_log::logged;

std::string room(const MemPool& pool) {
    const std::optional<std::size_t> available = pool.available_bytes();
    return std::to_string(pool.size_bytes()) + " B in pool" +
           (available ? ", " + std::to_string(*available) + " B of them free" : "");
}

std::uintptr_t number(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

bool within(const void* base, std::size_t size, const void* pointer) noexcept {
    return base != nullptr && number(pointer) >= number(base) && number(pointer) - number(base) < size;
}

}  // namespace

void AllocationTraits::destroy(Native p) noexcept {
    detail::allocations::leave(p);  // before the address is reused
    const auto free = [](std::uint64_t address) { hsa_amd_memory_pool_free(reinterpret_cast<void*>(address)); };
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    logged(
        Area::memory, "Allocation::~Allocation", [&] { return hex(p); },
        [&] {
            if (!detail::departures::defer(free, address)) free(address);
        });
}

Allocation Allocation::from_pool(const MemPool& pool, std::size_t size_bytes, std::source_location where) {
    const auto text = [&] { return std::to_string(size_bytes) + " B, " + pool.label(); };
    return logged(Area::memory, "Allocation::from_pool", text, [&] {
        const Driver driver = Driver::current("Allocation::from_pool");
        if (size_bytes == 0) return Allocation(driver, nullptr, 0, pool.owner());
        const auto call = [&] {
            return "hsa_amd_memory_pool_allocate(" + std::to_string(size_bytes) + " B, " + pool.label() + ")";
        };
        // Checked here because the runtime rounds sizes up before it compares them.
        if (const std::size_t most = pool.alloc_max_bytes(); size_bytes > most)
            throw OutOfMemory(
                call() + ": exceeds the limit of " + std::to_string(most) + " B for one allocation; " + room(pool),
                HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        void* data = nullptr;
        const hsa_status_t status = hsa_amd_memory_pool_allocate(pool.native(), size_bytes, 0, &data);
        if (status == HSA_STATUS_ERROR_OUT_OF_RESOURCES)
            throw OutOfMemory(call() + ": " + status_name(status) + "; " + room(pool), status);
        if (status != HSA_STATUS_SUCCESS) throw_status(status, call());
        Allocation allocation(driver, data, size_bytes, pool.owner());
        detail::departures::note_created(number(data));
        detail::allocations::enter(data, size_bytes, pool.label(), where);
        // The runtime maps host memory to no GPU by default.
        if (pool.owner().is_cpu() && !driver.runtime().gpus().empty()) allow_access(data, driver.runtime().gpus());
        return allocation;
    });
}

Allocation Allocation::from_native(void* data, std::size_t size_bytes, AgentRef owner, std::source_location where) {
    const Driver driver = Driver::current("Allocation::from_native");
    if (data == nullptr && size_bytes == 0) return Allocation(driver, nullptr, 0, owner);
    const auto refuse = [&](const std::string& why) {
        throw InvalidArgument("hsadrv::Allocation::from_native(" + hex(data) + ", " + std::to_string(size_bytes) +
                                  " B, " + owner.label() + "): " + why,
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    };
    const PointerInfo info = pointer_info(data);
    if (info.kind != PointerInfo::Kind::pool) refuse("no memory of a pool is at that address");
    if (info.agent_base != data) refuse("the address is inside an allocation that begins at " + hex(info.agent_base));
    if (size_bytes > info.size_bytes) refuse("the allocation has " + std::to_string(info.size_bytes) + " B");
    if (info.owner != owner) refuse("the allocation belongs to " + info.owner.label());
    if (detail::allocations::is_live(data)) refuse("an Allocation owns it already");
    if (detail::RingRegistry::at(data)) refuse("it is the ring of a queue, which frees it");
    Allocation allocation(driver, data, size_bytes, owner);
    try {
        detail::allocations::enter(data, size_bytes, owner.label() + ", adopted", where);
    } catch (...) {
        allocation.release();  // still owned by the caller
        throw;
    }
    return allocation;
}

namespace {

PointerInfo require_allocation(const std::string& call, const void* allocation) {
    PointerInfo info = pointer_info(allocation);
    if (info.kind == PointerInfo::Kind::pool) return info;
    throw InvalidArgument(call + (info.kind == PointerInfo::Kind::registered
                                      ? ": registered memory is for the agents that register_memory named"
                                      : ": no memory of a pool is at that address"),
                          HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

void require_possible(const std::string& call, const PointerInfo& info, std::span<const AgentRef> agents) {
    Driver::current(call.c_str()).runtime().require_known(call, agents);
    if (!info.device_memory()) return;
    const auto pool = info.pool();
    for (const AgentRef agent : agents)
        if (pool && pool->access(agent) == PoolAccess::never)
            throw InvalidArgument(call + ": " + agent.label() + " can never use memory of " + pool->label() +
                                      "; copy it through the host, as Stream::copy_async does",
                                  HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

void replace_access(const std::string& call, const PointerInfo& info, std::span<const AgentRef> agents) {
    const std::vector<hsa_agent_t> natives = detail::native_agents(agents);
    check(hsa_amd_agents_allow_access(static_cast<std::uint32_t>(natives.size()), natives.data(), nullptr,
                                      info.agent_base),
          call);
}

// The runtime replaces the list of agents, so reading it and adding to it must be one step.
constinit std::mutex access_mutex;

std::string access_call(const char* function, const void* allocation, std::span<const AgentRef> agents) {
    return std::string(function) + "(" + hex(allocation) + ", " + labels_of(agents) + ")";
}

/// Gives access to `agents`, and to those that kept(info) returns; to others no more.
template <class Kept>
void change_access(const char* function, const void* allocation, std::span<const AgentRef> agents, Kept&& kept) {
    const std::string call = access_call(function, allocation, agents);
    logged(
        Area::memory, function, [&] { return hex(allocation) + ", " + labels_of(agents); },
        [&] {
            const std::lock_guard lock(access_mutex);
            const PointerInfo info = require_allocation(call, allocation);
            require_possible(call, info, agents);
            std::vector<AgentRef> all = kept(info);
            all.insert(all.end(), agents.begin(), agents.end());
            replace_access(call, info, all);
        });
}

}  // namespace

void allow_access(void* allocation, std::span<const AgentRef> agents) {
    if (agents.empty()) return;
    change_access("hsadrv::allow_access", allocation, agents, [](const PointerInfo& info) { return info.accessible; });
}

void set_access(void* allocation, std::span<const AgentRef> agents) {
    change_access("hsadrv::set_access", allocation, agents,
                  [](const PointerInfo& info) { return std::vector<AgentRef>{info.owner}; });
}

std::optional<MemPool> PointerInfo::pool() const {
    if (kind != Kind::pool || !owner) return std::nullopt;
    for (const MemPool& pool : owner.pools()) {
        if (pool.segment() != Segment::global) continue;
        const GlobalFlags its = pool.global_flags();
        if (its.coarse_grained == flags.coarse_grained && its.kernarg == flags.kernarg) return pool;
    }
    return std::nullopt;
}

bool PointerInfo::accessible_by(AgentRef agent) const noexcept {
    return std::find(accessible.begin(), accessible.end(), agent) != accessible.end();
}

bool PointerInfo::device_memory() const { return kind != Kind::pageable && owner && owner.is_gpu(); }

void* PointerInfo::agent_address(const void* pointer) const noexcept {
    // Registered memory may have different host and agent addresses; the caller may hold either.
    if (!within(agent_base, size_bytes, pointer) && within(host_base, size_bytes, pointer))
        return static_cast<std::byte*>(agent_base) + (number(pointer) - number(host_base));
    return const_cast<void*>(pointer);
}

void* PointerInfo::host_address(const void* pointer) const noexcept {
    if (!within(host_base, size_bytes, pointer) && within(agent_base, size_bytes, pointer))
        return static_cast<std::byte*>(host_base) + (number(pointer) - number(agent_base));
    return const_cast<void*>(pointer);
}

std::size_t PointerInfo::bytes_after(const void* pointer) const noexcept {
    for (const void* base : {agent_base, host_base})
        if (within(base, size_bytes, pointer)) return size_bytes - (number(pointer) - number(base));
    return 0;
}

namespace {
// The runtime may know the range under another address, and reports only one of several overlapping ranges.
PointerInfo registered_info(const detail::HostLock& lock, AgentRef cpu) {
    PointerInfo info;
    info.kind = PointerInfo::Kind::registered;
    info.owner = cpu;
    const auto kind = static_cast<HostMemory>(lock.range.kind);
    info.flags = {.kernarg = kind == HostMemory::kernarg,
                  .fine_grained = kind != HostMemory::coarse_grained,
                  .coarse_grained = kind == HostMemory::coarse_grained};
    info.host_base = reinterpret_cast<void*>(lock.range.begin);
    info.agent_base = reinterpret_cast<void*>(lock.device);
    info.size_bytes = lock.range.size_bytes;
    for (const std::uint64_t handle : lock.range.agents) info.accessible.emplace_back(hsa_agent_t{handle});
    return info;
}
}  // namespace

PointerInfo pointer_info(const void* pointer) {
    refuse_in_forked_child("hsadrv::pointer_info");
    const auto runtime = detail::Runtime::find();
    std::shared_lock<std::shared_mutex> querying;
    if (runtime) {
        if (const auto lock = runtime->registrations().covering(pointer))
            return registered_info(*lock, runtime->cpus().front());
        querying = runtime->registrations().querying();
    }
    hsa_amd_pointer_info_t native{};
    native.size = sizeof native;
    std::uint32_t count = 0;
    hsa_agent_t* agents = nullptr;
    check(hsa_amd_pointer_info(const_cast<void*>(pointer), &native, std::malloc, &count, &agents),
          [&] { return "hsa_amd_pointer_info(" + hex(pointer) + ")"; });
    const std::unique_ptr<hsa_agent_t, void (*)(void*)> freed(agents, std::free);

    // Of a mapping of reserved addresses ROCR 6.1 reports nothing, 6.4 the reserved range, which is the CPU's and no
    // GPU's, and 7.2 the mapping's size from any address within it.
    constexpr auto reserved = static_cast<int>(HSA_EXT_POINTER_TYPE_IPC) + 1;  // not in 5.2's hsa_ext_amd.h
    const auto type = static_cast<int>(native.type);
    if (type == HSA_EXT_POINTER_TYPE_UNKNOWN || type >= reserved)
        if (auto mapped = detail::mapped_ranges::info(pointer)) return *std::move(mapped);

    PointerInfo info;
    switch (native.type) {
        case HSA_EXT_POINTER_TYPE_UNKNOWN:
            return info;
        case HSA_EXT_POINTER_TYPE_HSA:
            info.kind = PointerInfo::Kind::pool;
            break;
        case HSA_EXT_POINTER_TYPE_LOCKED:
            info.kind = PointerInfo::Kind::registered;
            break;
        default:
            info.kind = PointerInfo::Kind::other;
            break;
    }
    info.owner = AgentRef(native.agentOwner);
    info.flags = detail::global_flags(native.global_flags);
    info.host_base = native.hostBaseAddress;
    info.agent_base = native.agentBaseAddress;
    info.size_bytes = native.sizeInBytes;
    for (std::uint32_t i = 0; i < count; ++i) info.accessible.emplace_back(agents[i]);
    return info;
}

}  // namespace hsadrv
