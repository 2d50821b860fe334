#include "hsadrv/signal/signal_watches.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail::signal_watches {

namespace {

struct Sleeper {
    std::condition_variable_any woken;
    bool done = false;
};

struct Watch {
    SignalTerm term;
    std::vector<std::shared_ptr<Sleeper>> sleepers;
};

struct Watches {
    Ranked<std::mutex, LockRank::leaf> mutex;
    // By the signal's handle; 0 once the signal is destroyed.
    std::unordered_multimap<std::uint64_t, Watch> all;
    std::atomic<std::size_t> live{0};  // without those

    using Entry = decltype(all)::iterator;

    // With the mutex held.
    Watch* find(const SignalTerm& term) {
        for (auto [at, end] = all.equal_range(term.signal.native().handle); at != end; ++at)
            if (at->second.term.condition == term.condition && at->second.term.than == term.than) return &at->second;
        return nullptr;
    }
    Entry entry_of(const Watch* watch) {
        for (const std::uint64_t key : {watch->term.signal.native().handle, std::uint64_t{0}})
            for (auto [at, end] = all.equal_range(key); at != end; ++at)
                if (&at->second == watch) return at;
        return all.end();
    }
    void forget(std::uint64_t handle) noexcept {
        while (auto node = all.extract(handle)) {
            node.key() = 0;
            all.insert(std::move(node));
            --live;
        }
    }
};

Watches& watches() noexcept {
    static auto* all = new Watches;  // never destroyed: the runtime may call handlers at exit
    return *all;
}

/// A handler of the runtime, on its thread: false, it is removed.
bool end_watch(hsa_signal_value_t, void* argument) noexcept {
    Watches& of = watches();
    const std::lock_guard lock(of.mutex);
    const auto entry = of.entry_of(static_cast<const Watch*>(argument));
    for (const std::shared_ptr<Sleeper>& sleeper : entry->second.sleepers) {
        sleeper->done = true;
        sleeper->woken.notify_one();
    }
    if (entry->first != 0) --of.live;
    of.all.erase(entry);
    return false;
}

/// With the mutex held. The handler may run at once, and waits for the mutex. Throws bad_alloc.
Watch& watch(Watches& of, const SignalTerm& term) {
    if (Watch* known = of.find(term)) return *known;
    const auto entry = of.all.emplace(term.signal.native().handle, Watch{term, {}});
    if (hsa_amd_signal_async_handler(term.signal.native(), native_condition(term.condition), term.than, end_watch,
                                     &entry->second) != HSA_STATUS_SUCCESS) {
        of.all.erase(entry);
        throw std::bad_alloc();
    }
    ++of.live;
    return entry->second;
}

std::int64_t meeting(const SignalTerm& term) noexcept {
    switch (term.condition) {
        case Condition::equal:
        case Condition::greater_equal:
            return term.than;
        case Condition::not_equal:
            return ~term.than;
        case Condition::less:
            return INT64_MIN;
    }
    return 0;
}

}  // namespace

bool sleep(std::span<const SignalTerm> terms, Deadline deadline) noexcept {
    Watches& of = watches();
    std::unique_lock lock(of.mutex);
    std::shared_ptr<Sleeper> self;
    bool able = true;
    try {
        self = std::make_shared<Sleeper>();
        for (const SignalTerm& term : terms) watch(of, term).sleepers.push_back(self);
    } catch (const std::bad_alloc&) {
        able = false;
    }
    const auto done = [&] { return self->done; };
    if (able && deadline.is_never())
        self->woken.wait(lock, done);
    else if (able)
        self->woken.wait_for(lock, deadline.remaining(), done);
    for (const SignalTerm& term : terms)
        if (Watch* left = of.find(term)) std::erase(left->sleepers, self);
    return able;
}

bool watched(SignalRef signal) noexcept {
    Watches& of = watches();
    if (of.live.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(of.mutex);
    return of.all.contains(signal.native().handle);
}

std::size_t count() noexcept { return watches().live.load(std::memory_order_relaxed); }

void destroy_signal(hsa_signal_t signal) noexcept {
    Watches& of = watches();
    if (of.live.load(std::memory_order_relaxed) != 0) {
        const std::lock_guard lock(of.mutex);
        // One value: watches for conditions that it does not meet remain.
        if (const auto first = of.all.find(signal.handle); first != of.all.end()) {
            hsa_signal_store_screlease(signal, meeting(first->second.term));
            of.forget(signal.handle);
        }
    }
    hsa_signal_destroy(signal);
}

void forget_all() noexcept {
    Watches& of = watches();
    const std::lock_guard lock(of.mutex);
    while (!of.all.empty()) {
        const auto at = std::find_if(of.all.begin(), of.all.end(), [](const auto& entry) { return entry.first != 0; });
        if (at == of.all.end()) return;
        of.forget(at->first);
    }
}

}  // namespace hsadrv::detail::signal_watches
