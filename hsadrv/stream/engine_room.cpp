#include "hsadrv/stream/engine_room.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/signal_callbacks.hpp"
#include "hsadrv/stream/copy_queue.hpp"

namespace hsadrv::detail {

namespace {

bool same(const std::weak_ptr<CopyQueue>& a, const std::weak_ptr<CopyQueue>& b) noexcept {
    return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

EngineRoom::EngineRoom()
    : dma_([] {
          const char* const enabled = std::getenv("HSA_ENABLE_SDMA");
          return !enabled || std::strcmp(enabled, "0") != 0;
      }()) {}

bool EngineRoom::by_kernels(const Engine& engine) const noexcept {
    const auto [agent, to, from] = engine;
    return !dma_ || (to != 0) == (from != 0);
}

EngineRoom::Engine EngineRoom::ring_of(const Engine& engine) const noexcept {
    return by_kernels(engine) ? Engine{std::get<0>(engine), 0, 0} : engine;
}

bool EngineRoom::Place::has_room(std::size_t most) {
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

bool EngineRoom::take(const Engine& engine, const std::weak_ptr<CopyQueue>& queue, const Taken& copy) {
    const std::lock_guard lock(mutex_);
    const Engine ring = ring_of(engine);
    Place& place = places_[ring];
    const bool its_turn = place.line.empty() || (place.served && place.served == queue.lock().get());
    const bool takes = its_turn && place.has_room(most_of(ring));
    if (takes) {
        place.in_flight.push_back({copy.done, copy.below, 1 + copy.size_bytes / bytes_of_one});
        place.served = nullptr;
    } else if (std::ranges::none_of(place.line, [&](const auto& other) { return same(other, queue); })) {
        place.line.push_back(queue);
    }
    if (!place.line.empty()) await_copies(ring, place);
    return takes;
}

void EngineRoom::give_back(const Engine& engine, const std::shared_ptr<PooledSignal>& done) noexcept {
    const std::lock_guard lock(mutex_);
    const Engine ring = ring_of(engine);
    Place& place = places_[ring];
    auto& in_flight = place.in_flight;
    for (auto copy = in_flight.end(); copy != in_flight.begin();)
        if ((--copy)->done.lock() == done) {
            in_flight.erase(copy);
            break;
        }
    if (place.line.empty()) return;
    try {
        call_when_below(ring, done, INT64_MAX);
    } catch (const std::exception&) {  // out of memory: those in line are served when another copy is complete
    }
}

// The callbacks keep the signals alive until then, so none of these copies is released without a call.
void EngineRoom::await_copies(const Engine& ring, Place& place) {
    for (Given& copy : place.in_flight) {
        const auto done = copy.awaited ? nullptr : copy.done.lock();
        if (!done) continue;
        call_when_below(ring, done, copy.below);
        copy.awaited = true;
    }
}

void EngineRoom::call_when_below(const Engine& ring, const std::shared_ptr<PooledSignal>& done, std::int64_t below) {
    const auto serve = [weak = weak_from_this(), ring, done] {
        if (const auto room = weak.lock()) room->serve(ring);
    };
    Driver::current().runtime().copies().on_signal(done->ref(), Condition::less, below, serve);
}

// Gives each in line one turn while there is room. Who wants another one is at the end of the line again.
void EngineRoom::serve(const Engine& ring) noexcept {
    std::unique_lock lock(mutex_);
    Place& place = places_[ring];
    while (!place.line.empty() && place.has_room(most_of(ring))) {
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
