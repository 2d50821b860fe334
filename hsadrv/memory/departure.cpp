#include "hsadrv/memory/departure.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail::departures {

namespace {

/// Memory that is freed with the last departure that holds it.
struct Freed {
    void* memory = nullptr;
    ~Freed() {
        if (memory != nullptr) hsa_amd_memory_pool_free(memory);
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

bool defer_free(void* memory) noexcept {
    List& all = list();
    if (all.count.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(all.mutex);
    if (all.departures.empty()) return false;
    try {
        const auto freed = std::make_shared<Freed>();
        for (Departure* departure : all.departures) departure->held.push_back(freed);
        freed->memory = memory;  // owned by the departures from here on
    } catch (const std::bad_alloc&) {
        return false;  // freed by the caller, too early: out of memory
    }
    return true;
}

}  // namespace hsadrv::detail::departures
