// The tool that ROCR loads into a process under --check=memory and --check=init (HSA_TOOLS_LIB): announces allocations
// with their exact sizes; for `memory`, delays frees, so that a use of freed memory is seen.
//
// It is in libkfdemu, which is already loaded. Other tools chain: each calls what it found in the table.
#include <cstring>
#include <deque>
#include <mutex>

#include "boundary/hsa_table.hpp"
#include "check/process.hpp"

namespace kfdemu {
namespace {

/// Freed memory that stays mapped: so much, and no piece larger than a quarter of it.
constexpr std::size_t kQuarantineBytes = std::size_t{64} << 20;

hsa::MemoryAllocate next_allocate = nullptr;
hsa::PoolAllocate next_pool_allocate = nullptr;
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
    void forget() {
        const std::lock_guard lock{mutex_};
        entries_.clear();
        bytes_ = 0;
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

check::Allocations& allocations() { return check::process_checks().allocations; }

template <class Allocate>
hsa::Status announced(void** out, std::size_t bytes, Allocate&& allocate) {
    hsa::Status status = allocate();
    if (status == hsa::kOutOfResources && quarantine().empty()) status = allocate();
    if (status == hsa::kSuccess && out != nullptr && *out != nullptr)
        allocations().allocated(reinterpret_cast<std::uint64_t>(*out), bytes);
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
    const check::Span span = allocations().span(va);
    // Not from here, or freed before: the runtime knows what to answer.
    if (span.kind != check::Span::Live || span.begin != va) return next(memory);
    allocations().freed(va);
    constexpr std::size_t kPage = 4096;
    const Quarantine::Entry entry{memory, (span.end - span.begin + kPage - 1) / kPage * kPage, next};
    const bool delays = check::process_checks().checks().has(Check::memory);
    return delays && quarantine().keep(entry) ? hsa::kSuccess : Quarantine::release(entry);
}

hsa::Status free_memory(void* memory) { return free_by(next_free, memory); }
hsa::Status pool_free(void* memory) { return free_by(next_pool_free, memory); }

/// Puts `ours` in the table and what was there in `next`, if the table has the function.
template <class Function>
void wrap(std::byte* table, std::size_t offset, Function ours, Function& next) {
    hsa::TableVersion version{};
    std::memcpy(&version, table, sizeof version);
    if (offset + sizeof ours > version.minor) return;
    std::memcpy(&next, table + offset, sizeof next);
    std::memcpy(table + offset, &ours, sizeof ours);
}

}  // namespace
}  // namespace kfdemu

extern "C" [[gnu::visibility("default")]] bool OnLoad(kfdemu::hsa::Table* table, std::uint64_t, std::uint64_t,
                                                      const char* const*) {
    using namespace kfdemu;
    wrap(table->core, hsa::kMemoryAllocate, &allocate, next_allocate);
    wrap(table->core, hsa::kMemoryFree, &free_memory, next_free);
    wrap(table->amd, hsa::kPoolAllocate, &pool_allocate, next_pool_allocate);
    wrap(table->amd, hsa::kPoolFree, &pool_free, next_pool_free);
    return true;
}

/// hsa_shut_down: the runtime frees all memory itself.
extern "C" [[gnu::visibility("default")]] void OnUnload() {
    kfdemu::quarantine().forget();
    kfdemu::allocations().clear();
}
