#include "tools/kfdemu/boundary/hsa_memory.hpp"

#include <pthread.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "tools/kfdemu/boundary/hsa_tool.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/kfd/device.hpp"
#include "tools/kfdemu/kfdemu.h"

namespace kfdemu {
namespace {

/// Freed memory that stays mapped: so much, and no piece larger than a quarter of it.
constexpr std::size_t kQuarantineBytes = std::size_t{64} << 20;
/// Each piece takes two of the process's mappings.
constexpr std::size_t kQuarantineEntries = 1024;

hsa::MemoryAllocate next_allocate = nullptr;
hsa::PoolAllocate next_pool_allocate = nullptr;
hsa::Status (*next_pointer_info)(const void*, void* info, const void* allocate, std::uint32_t* count,
                                 void* agents) = nullptr;
hsa::Status (*next_ipc_create)(void*, std::size_t, void* handle) = nullptr;
hsa::Status (*next_agent_get_info)(hsa::Handle, std::uint32_t attribute, void* value) = nullptr;
hsa::MemoryFree next_free = nullptr, next_pool_free = nullptr;
hsa::RegisterCallback next_register = nullptr;
hsa::DeregisterCallback next_deregister = nullptr;

/// Memory whose user wants to be called when it is freed, or that other processes may attach: it is not kept.
class FreedAtOnce {
  public:
    void add(std::uint64_t va) {
        const std::lock_guard lock{mutex_};
        ++counts_[va];
    }
    void remove(std::uint64_t va) {
        const std::lock_guard lock{mutex_};
        if (const auto found = counts_.find(va); found != counts_.end() && --found->second == 0) counts_.erase(found);
    }
    bool take(std::uint64_t va) {
        const std::lock_guard lock{mutex_};
        return counts_.erase(va) != 0;
    }

  private:
    std::mutex mutex_;
    std::map<std::uint64_t, unsigned> counts_;
};

class Quarantine {
  public:
    FreedAtOnce at_once;

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
        while (bytes_ > kQuarantineBytes || entries_.size() > kQuarantineEntries) leaving.push_back(take());
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
        allocations().released(reinterpret_cast<std::uint64_t>(entry.memory));
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

std::atomic<Quarantine*> instance{nullptr};  // set before memory is allocated; outlives every exit handler

Quarantine& quarantine() { return *instance.load(std::memory_order_acquire); }

/// A child of fork() cannot release its parent's memory, and may not have the thread that holds the lock.
void renew_quarantine() { instance.store(new Quarantine, std::memory_order_release); }

check::ObjectName name_of(std::uint64_t va) { return {check::ObjectKind::Memory, va}; }

void announce(std::uint64_t va, std::size_t bytes) {
    const check::StackId by = stack_of_caller();
    allocations().allocated(va, bytes, by);
    if (finds_leaks()) objects().made(name_of(va), {bytes, by});
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

void report_double_free(std::uint64_t va, check::StackId caller) {
    check::Finding finding;
    finding.check = Check::memory;
    finding.rule = "double-free";
    finding.what = "memory is freed that is freed already";
    finding.identity = va;
    finding.address = va;
    finding.place = allocations().describe(va);
    finding.stacks = allocations().stacks(va);
    if (caller != check::kNoStack) finding.stacks.push_back({"freed again", check::host_frames(caller)});
    check::process_checks().report.add_counted(std::move(finding), 1);
}

hsa::Status free_by(hsa::MemoryFree next, void* memory) {
    const auto va = reinterpret_cast<std::uint64_t>(memory);
    const std::uint64_t bytes = allocations().bytes_at(va);
    const check::StackId caller = stack_of_caller();
    const check::Allocations::Was was = allocations().freed(va, caller);
    if (was == check::Allocations::Was::Unknown) return next(memory);  // the runtime knows what to answer
    if (was == check::Allocations::Was::Freed) return report_double_free(va, caller), hsa::kInvalidAllocation;
    objects().take(name_of(va));
    constexpr std::size_t kPage = 4096;
    const Quarantine::Entry entry{memory, (bytes + kPage - 1) / kPage * kPage, next};
    const bool at_once = quarantine().at_once.take(va) || !check::process_checks().checks().has(Check::memory);
    return !at_once && quarantine().keep(entry) ? hsa::kSuccess : Quarantine::release(entry);
}

/// The answer about freed memory is the runtime's: it is really freed first.
hsa::Status pointer_info(const void* memory, void* info, const void* allocate, std::uint32_t* count, void* agents) {
    if (allocations().span(reinterpret_cast<std::uint64_t>(memory)).kind == check::Span::Freed) quarantine().empty();
    return next_pointer_info(memory, info, allocate, count, agents);
}

hsa::Status ipc_create(void* memory, std::size_t bytes, void* handle) {
    quarantine().at_once.add(reinterpret_cast<std::uint64_t>(memory));
    return next_ipc_create(memory, bytes, handle);
}

hsa::Status agent_get_info(hsa::Handle agent, std::uint32_t attribute, void* value) {
    if (attribute == hsa::kMemoryAvailable) quarantine().empty();
    return next_agent_get_info(agent, attribute, value);
}

hsa::Status free_memory(void* memory) { return free_by(next_free, memory); }
hsa::Status pool_free(void* memory) { return free_by(next_pool_free, memory); }

hsa::Status register_callback(void* memory, hsa::Callback callback, void* data) {
    const hsa::Status status = next_register(memory, callback, data);
    if (status == hsa::kSuccess) quarantine().at_once.add(reinterpret_cast<std::uint64_t>(memory));
    return status;
}

hsa::Status deregister_callback(void* memory, hsa::Callback callback) {
    const hsa::Status status = next_deregister(memory, callback);
    if (status == hsa::kSuccess) quarantine().at_once.remove(reinterpret_cast<std::uint64_t>(memory));
    return status;
}

}  // namespace

void wrap_memory(hsa::Table& table) {
    static const int registered = (renew_quarantine(), pthread_atfork(nullptr, nullptr, renew_quarantine));
    (void)registered;
    hsa::wrap(table.core, hsa::kAgentGetInfo, &agent_get_info, next_agent_get_info);
    hsa::wrap(table.core, hsa::kMemoryAllocate, &allocate, next_allocate);
    hsa::wrap(table.core, hsa::kMemoryFree, &free_memory, next_free);
    hsa::wrap(table.amd, hsa::kPoolAllocate, &pool_allocate, next_pool_allocate);
    hsa::wrap(table.amd, hsa::kPoolFree, &pool_free, next_pool_free);
    hsa::wrap(table.amd, hsa::later(table.amd, hsa::Later::register_deallocation_callback), &register_callback,
              next_register);
    hsa::wrap(table.amd, hsa::later(table.amd, hsa::Later::deregister_deallocation_callback), &deregister_callback,
              next_deregister);
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

[[gnu::visibility("default")]] void kfdemu_called_from(const char* place) { check::set_caller(place); }

[[gnu::visibility("default")]] void kfdemu_pool_freed(const void* piece) {
    allocations().piece_freed(reinterpret_cast<std::uint64_t>(piece), stack_of_caller());
}
}

void free_delayed() {
    if (Quarantine* const kept = instance.load(std::memory_order_acquire)) kept->empty();  // else no runtime is there
}

void forget_memory() {
    quarantine().empty();
    allocations().clear();
    allocations().set_code({});
}

}  // namespace kfdemu
