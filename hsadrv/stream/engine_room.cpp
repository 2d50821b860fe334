#include "hsadrv/stream/engine_room.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace hsadrv::detail {

bool EngineRoom::Gpu::has_some(const void* owner) const {
    return std::ranges::any_of(in_flight, [&](const InFlight& copy) { return copy.owner == owner; });
}

bool EngineRoom::Gpu::has_room(const void* owner) {
    const bool others_wait = !waiting.empty() && !waiting.contains(owner);
    if (!others_wait && in_flight.size() < most) return true;
    std::erase_if(in_flight, [](const InFlight& copy) {
        const auto done = copy.done.lock();
        return !done || done->ref().load() < copy.below;
    });
    return in_flight.size() < most && !(others_wait && has_some(owner));
}

bool EngineRoom::take(AgentRef gpu, const void* owner, const Taken& copy) {
    const std::lock_guard lock(mutex_);
    Gpu& at = gpus_[gpu.native().handle];
    if (!at.has_room(owner)) {
        if (!at.has_some(owner)) at.waiting.insert(owner);
        return false;
    }
    at.in_flight.push_back({owner, copy.done, copy.below});
    at.waiting.erase(owner);
    return true;
}

void EngineRoom::give_back(AgentRef gpu, const void* owner) noexcept {
    const std::lock_guard lock(mutex_);
    auto& in_flight = gpus_[gpu.native().handle].in_flight;
    const auto last = std::find_if(in_flight.rbegin(), in_flight.rend(),
                                   [&](const InFlight& copy) { return copy.owner == owner; });
    if (last != in_flight.rend()) in_flight.erase(std::next(last).base());
}

EngineRoom::Taken EngineRoom::awaited(AgentRef gpu, const void* owner) {
    const std::lock_guard lock(mutex_);
    Gpu& at = gpus_[gpu.native().handle];
    if (at.has_room(owner)) return {};
    std::vector<InFlight> own;
    std::ranges::copy_if(at.in_flight, std::back_inserter(own),
                         [&](const InFlight& copy) { return copy.owner == owner; });
    const InFlight& copy = own.empty() ? at.in_flight.front() : own[own.size() / 2];
    return {copy.done.lock(), copy.below};
}

void EngineRoom::leave(const void* owner) noexcept {
    const std::lock_guard lock(mutex_);
    for (auto& [gpu, at] : gpus_) at.waiting.erase(owner);
}

}  // namespace hsadrv::detail
