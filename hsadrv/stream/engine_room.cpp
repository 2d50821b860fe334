#include "hsadrv/stream/engine_room.hpp"

#include <algorithm>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/signal_callbacks.hpp"
#include "hsadrv/stream/copy_queue.hpp"

namespace hsadrv::detail {

namespace {

bool same(const std::weak_ptr<CopyQueue>& a, const std::weak_ptr<CopyQueue>& b) noexcept {
    return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

bool EngineRoom::Place::has_room() {
    const auto taken = [&] {
        std::size_t sum = 0;
        for (const Given& copy : in_flight) sum += copy.counts_as;
        return sum;
    };
    if (taken() < most) return true;
    std::erase_if(in_flight, [](const Given& copy) {
        const auto done = copy.done.lock();
        return !done || done->ref().load() < copy.below;
    });
    return taken() < most;
}

bool EngineRoom::take(AgentRef gpu, const std::weak_ptr<CopyQueue>& queue, const Taken& copy) {
    const std::uint64_t handle = gpu.native().handle;
    const std::lock_guard lock(mutex_);
    Place& place = places_[handle];
    const bool its_turn = place.line.empty() || (place.served && place.served == queue.lock().get());
    const bool takes = its_turn && place.has_room();
    if (takes) {
        place.in_flight.push_back({copy.done, copy.below, 1 + copy.size_bytes / bytes_of_one});
        place.served = nullptr;
    } else if (std::ranges::none_of(place.line, [&](const auto& other) { return same(other, queue); })) {
        place.line.push_back(queue);
    }
    if (!place.line.empty() && !await_copies(handle, place)) call_when_below(handle, copy.done, INT64_MAX);  // at once
    return takes;
}

void EngineRoom::give_back(AgentRef gpu, const std::shared_ptr<PooledSignal>& done) noexcept {
    const std::uint64_t handle = gpu.native().handle;
    const std::lock_guard lock(mutex_);
    Place& place = places_[handle];
    auto& in_flight = place.in_flight;
    for (auto copy = in_flight.end(); copy != in_flight.begin();)
        if ((--copy)->done.lock() == done) {
            in_flight.erase(copy);
            break;
        }
    if (place.line.empty()) return;
    try {
        call_when_below(handle, done, INT64_MAX);
    } catch (const std::exception&) {  // out of memory: those in line are served when another copy is complete
    }
}

// The callbacks keep the signals alive until then, so none of these copies is released without a call.
bool EngineRoom::await_copies(std::uint64_t gpu, Place& place) {
    bool any = false;
    for (Given& copy : place.in_flight) {
        const auto done = copy.awaited ? nullptr : copy.done.lock();
        any |= copy.awaited || done;
        if (!done) continue;
        call_when_below(gpu, done, copy.below);
        copy.awaited = true;
    }
    return any;
}

void EngineRoom::call_when_below(std::uint64_t gpu, const std::shared_ptr<PooledSignal>& done, std::int64_t below) {
    const auto serve = [weak = weak_from_this(), gpu, done] {
        if (const auto room = weak.lock()) room->serve(gpu);
    };
    Driver::current().runtime().copies().on_signal(done->ref(), Condition::less, below, serve);
}

// Gives each in line one turn while there is room. Who wants another one is at the end of the line again.
void EngineRoom::serve(std::uint64_t gpu) noexcept {
    std::unique_lock lock(mutex_);
    Place& place = places_[gpu];
    while (!place.line.empty() && place.has_room()) {
        std::shared_ptr<CopyQueue> queue = place.line.front().lock();
        place.line.pop_front();
        place.served = queue.get();
        lock.unlock();
        if (queue) queue->advance();
        queue = nullptr;
        lock.lock();
        place.served = nullptr;
    }
}

}  // namespace hsadrv::detail
