// Memory, for the tool that ROCR loads: announces allocations with their exact sizes, and delays frees, so that a use
// of freed memory is seen.
#include <deque>
#include <mutex>
#include <set>

#include "boundary/hsa_tool.hpp"
#include "kfd/device.hpp"
#include "kfdemu.h"

namespace kfdemu {
namespace {

/// Freed memory that stays mapped: so much, and no piece larger than a quarter of it.
constexpr std::size_t kQuarantineBytes = std::size_t{64} << 20;

hsa::MemoryAllocate next_allocate = nullptr;
hsa::PoolAllocate next_pool_allocate = nullptr;
hsa::Status (*next_pointer_info)(const void*, void* info, const void* allocate, std::uint32_t* count,
                                 void* agents) = nullptr;
hsa::Status (*next_ipc_create)(void*, std::size_t, void* handle) = nullptr;
hsa::Status (*next_agent_get_info)(hsa::Handle, std::uint32_t attribute, void* value) = nullptr;
hsa::MemoryFree next_free = nullptr, next_pool_free = nullptr;

class Quarantine {
  public:
    struct Entry {
        void* memory;
        std::size_t bytes;
        hsa::MemoryFree release;
    };

    /// True: it will be released later.
    bool keep(const Entry& entry) {
        if (entry.bytes > kQuarantineBytes / 4) return false;
        std::unique_lock lock{mutex_};
        entries_.push_back(entry);
        bytes_ += entry.bytes;
        std::deque<Entry> leaving;
        while (bytes_ > kQuarantineBytes) leaving.push_back(take());
        lock.unlock();
        for (const Entry& old : leaving) release(old);
        return true;
    }
    /// Releases everything; false if there was nothing.
    bool empty() {
        std::unique_lock lock{mutex_};
        std::deque<Entry> leaving;
        leaving.swap(entries_);
        bytes_ = 0;
        lock.unlock();
        for (const Entry& old : leaving) release(old);
        return !leaving.empty();
    }

    /// Frees it. Its addresses may then be anybody's, announced or not.
    static hsa::Status release(const Entry& entry) {
        check::process_checks().allocations.forget(reinterpret_cast<std::uint64_t>(entry.memory));
        return entry.release(entry.memory);
    }

  private:
    Entry take() {
        const Entry first = entries_.front();
        entries_.pop_front();
        bytes_ -= first.bytes;
        return first;
    }

    std::mutex mutex_;
    std::deque<Entry> entries_;
    std::size_t bytes_ = 0;
};

Quarantine& quarantine() {
    static auto* const instance = new Quarantine;  // outlives every exit handler
    return *instance;
}

/// Memory that other processes may attach: it is freed at once, for them as well.
class Exports {
  public:
    void add(std::uint64_t va) {
        const std::lock_guard lock{mutex_};
        all_.insert(va);
    }
    bool take(std::uint64_t va) {
        const std::lock_guard lock{mutex_};
        return all_.erase(va) != 0;
    }

  private:
    std::mutex mutex_;
    std::set<std::uint64_t> all_;
};

Exports& exports() {
    static auto* const instance = new Exports;  // outlives every exit handler
    return *instance;
}

check::Allocations& allocations() { return check::process_checks().allocations; }

check::ObjectName name_of(std::uint64_t va) { return {check::ObjectKind::Memory, va}; }

void announce(std::uint64_t va, std::size_t bytes) {
    const check::StackId by = stack_of_caller();
    allocations().allocated(va, bytes, by);
    if (finds_leaks()) check::process_checks().objects.made(name_of(va), {bytes, by});
}

template <class Allocate>
hsa::Status announced(void** out, std::size_t bytes, Allocate&& allocate) {
    hsa::Status status = allocate();
    if (status == hsa::kOutOfResources && quarantine().empty()) status = allocate();
    if (status == hsa::kSuccess && out != nullptr && *out != nullptr)
        announce(reinterpret_cast<std::uint64_t>(*out), bytes);
    return status;
}

hsa::Status allocate(hsa::Handle region, std::size_t bytes, void** out) {
    return announced(out, bytes, [&] { return next_allocate(region, bytes, out); });
}

hsa::Status pool_allocate(hsa::Handle pool, std::size_t bytes, std::uint32_t flags, void** out) {
    return announced(out, bytes, [&] { return next_pool_allocate(pool, bytes, flags, out); });
}

hsa::Status free_by(hsa::MemoryFree next, void* memory) {
    const auto va = reinterpret_cast<std::uint64_t>(memory);
    const std::uint64_t bytes = allocations().bytes_at(va);
    // Not from here, or freed before: the runtime knows what to answer, once it is really freed.
    if (bytes == 0) {
        if (allocations().span(va).kind == check::Span::Freed) quarantine().empty();
        return next(memory);
    }
    allocations().freed(va, stack_of_caller());
    check::process_checks().objects.take(name_of(va));
    constexpr std::size_t kPage = 4096;
    const Quarantine::Entry entry{memory, (bytes + kPage - 1) / kPage * kPage, next};
    if (exports().take(va) || !quarantine().keep(entry)) return Quarantine::release(entry);
    return hsa::kSuccess;
}

/// The answer about freed memory is the runtime's: it is really freed first.
hsa::Status pointer_info(const void* memory, void* info, const void* allocate, std::uint32_t* count, void* agents) {
    if (allocations().span(reinterpret_cast<std::uint64_t>(memory)).kind == check::Span::Freed) quarantine().empty();
    return next_pointer_info(memory, info, allocate, count, agents);
}

hsa::Status ipc_create(void* memory, std::size_t bytes, void* handle) {
    exports().add(reinterpret_cast<std::uint64_t>(memory));
    return next_ipc_create(memory, bytes, handle);
}

hsa::Status agent_get_info(hsa::Handle agent, std::uint32_t attribute, void* value) {
    if (attribute == hsa::kMemoryAvailable) quarantine().empty();
    return next_agent_get_info(agent, attribute, value);
}

hsa::Status free_memory(void* memory) { return free_by(next_free, memory); }
hsa::Status pool_free(void* memory) { return free_by(next_pool_free, memory); }

}  // namespace

void wrap_memory(hsa::Table& table) {
    hsa::wrap(table.core, hsa::kAgentGetInfo, &agent_get_info, next_agent_get_info);
    hsa::wrap(table.core, hsa::kMemoryAllocate, &allocate, next_allocate);
    hsa::wrap(table.core, hsa::kMemoryFree, &free_memory, next_free);
    hsa::wrap(table.amd, hsa::kPoolAllocate, &pool_allocate, next_pool_allocate);
    hsa::wrap(table.amd, hsa::kPoolFree, &pool_free, next_pool_free);
    hsa::wrap(table.amd, hsa::later(table.amd, hsa::Later::ipc_memory_create), &ipc_create, next_ipc_create);
    hsa::wrap(table.amd, hsa::later(table.amd, hsa::Later::pointer_info), &pointer_info, next_pointer_info);
}

extern "C" {
[[gnu::visibility("default")]] int kfdemu_pool_is_checked() {
    return Device::topology() != nullptr && Device::options().checks.has(Check::memory) ? 1 : 0;
}

[[gnu::visibility("default")]] void kfdemu_pool_allocated(const void* piece, std::size_t bytes) {
    if (piece != nullptr)
        allocations().piece_allocated(reinterpret_cast<std::uint64_t>(piece), bytes, stack_of_caller());
}

[[gnu::visibility("default")]] void kfdemu_pool_freed(const void* piece) {
    allocations().piece_freed(reinterpret_cast<std::uint64_t>(piece), stack_of_caller());
}
}

void free_delayed() { quarantine().empty(); }

void forget_memory() {
    quarantine().empty();
    allocations().clear();
    allocations().set_code({});
}

}  // namespace kfdemu
