#include "hsadrv/base/departure.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail::departures {

namespace {

/// Ends with the last departure that holds it.
struct Deferred {
    void (*end)(std::uint64_t) = nullptr;
    std::uint64_t argument = 0;
    ~Deferred() {
        if (end != nullptr) end(argument);
    }
};

struct Departure {
    Departure();
    ~Departure();
    std::vector<std::shared_ptr<const void>> held;  // under the list's mutex
};

struct List {
    Ranked<std::mutex, LockRank::leaf> mutex;
    std::vector<Departure*> departures;
    std::atomic<std::size_t> count{0};  // relaxed: a thread that sees it change takes the lock to read
};

// Never destroyed: memory may be freed at exit.
List& list() {
    static auto* const list = new List;
    return *list;
}

Departure::Departure() {
    List& all = list();
    const std::lock_guard lock(all.mutex);
    all.departures.push_back(this);
    all.count.store(all.departures.size(), std::memory_order_relaxed);
}

Departure::~Departure() {
    std::vector<std::shared_ptr<const void>> over;  // destroyed without the lock
    List& all = list();
    const std::lock_guard lock(all.mutex);
    std::erase(all.departures, this);
    all.count.store(all.departures.size(), std::memory_order_relaxed);
    over.swap(held);
}

}  // namespace

std::shared_ptr<const void> begin() { return std::make_shared<Departure>(); }

void hold(const std::shared_ptr<const void>& object) {
    List& all = list();
    if (all.count.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(all.mutex);
    for (Departure* departure : all.departures) departure->held.push_back(object);
}

bool defer(void (*end)(std::uint64_t), std::uint64_t argument) noexcept {
    List& all = list();
    if (all.count.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(all.mutex);
    if (all.departures.empty()) return false;
    try {
        const auto deferred = std::make_shared<Deferred>();
        deferred->argument = argument;
        for (Departure* departure : all.departures) departure->held.push_back(deferred);
        deferred->end = end;  // owned by the departures from here on
    } catch (const std::bad_alloc&) {
        return false;  // ended by the caller, too early: out of memory
    }
    return true;
}

}  // namespace hsadrv::detail::departures
