#include "hsadrv/base/departure.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <unordered_map>

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail {

namespace {

struct Departures {
    Ranked<std::mutex, LockRank::leaf> mutex;  // guards the members below
    std::list<Departure::Kept> kept;           // one element per departure
    std::uint64_t begun = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> created;  // address: how many had begun; empty without departures
    std::atomic<std::size_t> count{0};  // relaxed: a thread that sees it change takes the lock to read

    void counted() noexcept {
        if (kept.empty()) created.clear();
        count.store(kept.size(), std::memory_order_relaxed);
    }
    /// How many departures had begun when it was created; forgets that.
    std::uint64_t take_begun_before(std::uint64_t address) noexcept {
        const auto node = created.extract(address);
        return node ? node.mapped() : 0;
    }
};

// Never destroyed: memory may be freed at exit. Allocates nothing, for callers that must not fail.
Departures& all() noexcept {
    alignas(Departures) static std::byte room[sizeof(Departures)];
    static auto* const all = new (room) Departures;
    return *all;
}

/// Ends with the last departure that holds it.
struct Deferred {
    void (*end)(std::uint64_t) = nullptr;
    std::uint64_t address = 0;
    ~Deferred() {
        if (end != nullptr) end(address);
    }
};

}  // namespace

void Departure::begin() noexcept {
    Departures& others = all();
    const std::lock_guard lock(others.mutex);
    in_all_ = own_.begin();
    in_all_->number = ++others.begun;
    others.kept.splice(others.kept.end(), own_);
    others.counted();
}

Departure::~Departure() {
    if (!own_.empty()) return;  // it has not begun
    Departures& others = all();
    const std::lock_guard lock(others.mutex);
    own_.splice(own_.end(), others.kept, in_all_);  // destroyed without the lock
    others.counted();
}

void departures::note_created(std::uint64_t address) noexcept {
    Departures& others = all();
    if (others.count.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(others.mutex);
    if (others.kept.empty()) return;
    try {
        others.created[address] = others.begun;
    } catch (const std::bad_alloc&) {  // it counts as older
    }
}

void departures::hold(const std::shared_ptr<const void>& object) {
    Departures& others = all();
    if (others.count.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(others.mutex);
    const std::uint64_t before = others.take_begun_before(reinterpret_cast<std::uintptr_t>(object.get()));
    for (Departure::Kept& kept : others.kept)
        if (kept.number > before) kept.objects.push_back(object);
}

bool departures::defer(void (*end)(std::uint64_t), std::uint64_t address) noexcept {
    Departures& others = all();
    if (others.count.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(others.mutex);
    const std::uint64_t before = others.take_begun_before(address);
    if (others.kept.empty() || others.kept.back().number <= before) return false;
    try {
        const auto deferred = std::make_shared<Deferred>();
        deferred->address = address;
        for (Departure::Kept& kept : others.kept)
            if (kept.number > before) kept.objects.push_back(deferred);
        deferred->end = end;           // owned by the departures from here on
    } catch (const std::bad_alloc&) {  // leaked: a packet or an engine may still write to it
    }
    return true;
}

}  // namespace hsadrv::detail
