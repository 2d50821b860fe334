#include "hsadrv/base/departure.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail {

namespace {

struct Departures {
    Ranked<std::mutex, LockRank::leaf> mutex;
    Departure::Held held;               // one element per departure
    std::atomic<std::size_t> count{0};  // relaxed: a thread that sees it change takes the lock to read
};

// Never destroyed: memory may be freed at exit.
Departures& all() {
    static auto* const all = new Departures;
    return *all;
}

/// Ends with the last departure that holds it.
struct Deferred {
    void (*end)(std::uint64_t) = nullptr;
    std::uint64_t argument = 0;
    ~Deferred() {
        if (end != nullptr) end(argument);
    }
};

}  // namespace

void Departure::begin() noexcept {
    Departures& others = all();
    const std::lock_guard lock(others.mutex);
    in_all_ = own_.begin();
    others.held.splice(others.held.end(), own_);
    others.count.store(others.held.size(), std::memory_order_relaxed);
}

Departure::~Departure() {
    if (!own_.empty()) return;  // it has not begun
    Departures& others = all();
    const std::lock_guard lock(others.mutex);
    own_.splice(own_.end(), others.held, in_all_);  // destroyed without the lock
    others.count.store(others.held.size(), std::memory_order_relaxed);
}

void departures::hold(const std::shared_ptr<const void>& object) {
    Departures& others = all();
    if (others.count.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(others.mutex);
    for (auto& held : others.held) held.push_back(object);
}

bool departures::defer(void (*end)(std::uint64_t), std::uint64_t argument) noexcept {
    Departures& others = all();
    if (others.count.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(others.mutex);
    if (others.held.empty()) return false;
    try {
        const auto deferred = std::make_shared<Deferred>();
        deferred->argument = argument;
        for (auto& held : others.held) held.push_back(deferred);
        deferred->end = end;           // owned by the departures from here on
    } catch (const std::bad_alloc&) {  // leaked: a packet or an engine may still write to it
    }
    return true;
}

}  // namespace hsadrv::detail
