#include "hsadrv/stream/live_streams.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "hsadrv/base/departure.hpp"
#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/memory/ring_registry.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/stream/autopsy.hpp"
#include "hsadrv/stream/dead_queue.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail::live_streams {

namespace {

struct List {
    Ranked<std::mutex, LockRank::list> mutex;
    std::vector<StreamCore*> streams;
    /// With the mutex held. Relaxed: a forked child reads what its only thread would have seen.
    std::atomic<bool> changes{false};

    template <class Change>
    void change(Change&& change) {
        changes.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);  // not moved into the change
        change(streams);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        changes.store(false, std::memory_order_relaxed);
    }
};

// Never destroyed: the runtime's thread may still call at exit.
List& list() {
    static auto* list = new List;
    return *list;
}

}  // namespace

void enter(StreamCore& stream) {
    const std::lock_guard lock(list().mutex);
    list().streams.reserve(list().streams.size() + 1);
    list().change([&](auto& streams) { streams.push_back(&stream); });
}

void leave(StreamCore& stream) noexcept {
    const std::lock_guard lock(list().mutex);
    list().change([&](auto& streams) { std::erase(streams, &stream); });
}

void settle_producers(SharedQueue& queue) noexcept {
    const std::lock_guard lock(list().mutex);
    queue.settle_producers(list().streams);
}

// Another thread of the parent may have held the lock, which it never gives back here, and only have looked at the
// list. If it was changing it, a launch is not refused, but crashes.
void divert_in_child() noexcept {
    const std::unique_lock lock(list().mutex, std::try_to_lock);
    if (!lock.owns_lock() && list().changes.load(std::memory_order_relaxed)) return;
    for (StreamCore* stream : list().streams) stream->mutex().disable_fast_path();
}

void visit(const std::function<void(StreamCore&)>& each) {
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams) each(*stream);
}

void poll() noexcept {
    const auto runtime = Runtime::find();
    std::vector<std::shared_ptr<SharedQueue>> queues, fresh;  // destroyed without the lock
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams) stream->try_free_queue();
    if (!runtime) return;
    try {
        queues = runtime->queues().queues();
        for (const auto& queue : queues) {
            static_cast<void>(queue->try_stop_for(nullptr));  // the packet at the head is of a destroyed stream
            if (queue->dead()) leave_dead_queue(*queue, runtime->queues(), list().streams, fresh);
        }
    } catch (const std::bad_alloc&) {  // retried by the next poll
    }
}

namespace {

/// The streams whose packet was running, and how many queues may have been running one in all. For queues outside
/// streams this is unknown, so each one that was ever used counts.
struct Suspects {
    std::vector<const StreamCore*> streams;
    std::size_t queues = 0;

    explicit Suspects(const Fault& fault) {
        std::set<const SharedQueue*> theirs;
        for (StreamCore* stream : list().streams) {
            if (stream->agent() != fault.agent) continue;
            const SharedQueue& queue = *stream->shared_queue();
            const bool first = queue.ref().write_index() != 0 && theirs.insert(&queue).second;
            if (queue.dead()) continue;  // it had stopped before
            if (queue.is_head(stream)) streams.push_back(stream);
            if (first && queue.is_head(nullptr)) ++queues;
        }
        queues += streams.size() + RingRegistry::used(fault.agent) - theirs.size();
    }
    bool has(const StreamCore* stream) const noexcept {
        return std::find(streams.begin(), streams.end(), stream) != streams.end();
    }
};

}  // namespace

void lose(const Fault& fault) {
    const std::lock_guard lock(list().mutex);
    const Suspects suspects(fault);
    for (StreamCore* stream : list().streams)
        if (stream->agent() == fault.agent) stream->fail(fault, suspects.has(stream) ? suspects.queues : 0);
}

bool retire_holds() {
    std::vector<std::shared_ptr<const void>> done;  // destroyed without the lock
    bool more = false;
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams) more |= stream->retire_all(done);
    return more;
}

void let_go(AgentRef agent, std::shared_ptr<const void> object) noexcept {
    try {
        visit([&](StreamCore& stream) {
            if (stream.agent() == agent) stream.hold(object);
        });
        departures::hold(object);
    } catch (const std::bad_alloc&) {
        leak(std::move(object));  // better than freeing code under a running kernel
    }
}

std::string autopsy_of(const Timeline& timeline) {
    const std::lock_guard lock(list().mutex);
    return Autopsy(list().streams).of(timeline);
}

}  // namespace hsadrv::detail::live_streams
