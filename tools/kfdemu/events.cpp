#include "events.hpp"

#include <algorithm>

namespace kfdemu {
namespace {

bool has_slot(std::uint32_t type) { return type == abi::kEventSignal || type == abi::kEventDebug; }

}  // namespace

std::optional<std::uint32_t> Events::create(std::uint32_t type, bool auto_reset) {
    std::lock_guard lock{mutex_};
    std::uint32_t id = 0;
    if (has_slot(type)) {
        if (signal_events_ + 1 >= abi::kSignalEventLimit) return {};
        // Round robin, so that a late interrupt of a destroyed event does not meet a new one at once.
        while (events_.count(next_signal_id_))
            next_signal_id_ = next_signal_id_ % (abi::kSignalEventLimit - 1) + 1;
        id = next_signal_id_;
        next_signal_id_ = next_signal_id_ % (abi::kSignalEventLimit - 1) + 1;
        ++signal_events_;
    } else {
        id = next_other_id_++;
    }
    Event event{};
    event.type = type;
    event.auto_reset = auto_reset;
    events_.emplace(id, std::move(event));
    return id;
}

bool Events::destroy(std::uint32_t id) {
    std::lock_guard lock{mutex_};
    auto at = events_.find(id);
    if (at == events_.end()) return false;
    if (has_slot(at->second.type)) --signal_events_;
    for (Waiter* waiter : at->second.waiters) waiter->destroyed = true;
    events_.erase(at);
    changed_.notify_all();
    return true;
}

bool Events::set(std::uint32_t id) {
    std::lock_guard lock{mutex_};
    auto at = events_.find(id);
    if (at == events_.end()) return false;
    activate(at->second);
    return true;
}

void Events::activate(Waiter& waiter, const Event& event) {
    waiter.activated = true;
    waiter.memory = event.memory;
    waiter.hw = event.hw;
}

void Events::activate(Event& event) {
    for (Waiter* waiter : event.waiters) activate(*waiter, event);
    event.signalled = !event.auto_reset || event.waiters.empty();
    changed_.notify_all();
}

bool Events::reset(std::uint32_t id) {
    std::lock_guard lock{mutex_};
    auto at = events_.find(id);
    if (at == events_.end()) return false;
    at->second.signalled = false;
    return true;
}

void Events::raise(const abi::MemoryException& data) {
    std::lock_guard lock{mutex_};
    for (auto& [id, event] : events_) {
        if (event.type != abi::kEventMemory) continue;
        event.memory = data;
        activate(event);
    }
}

void Events::raise(const abi::HwException& data) {
    std::lock_guard lock{mutex_};
    for (auto& [id, event] : events_) {
        if (event.type != abi::kEventHwException) continue;
        event.hw = data;
        activate(event);
    }
}

std::optional<abi::WaitResult> Events::wait(std::span<abi::EventData> events, bool all,
                                            std::uint32_t timeout_ms) {
    std::unique_lock lock{mutex_};
    for (const abi::EventData& data : events)
        if (!events_.count(data.event_id)) return {};

    std::vector<Waiter> waiters(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        Event& event = events_.at(events[i].event_id);
        if (event.signalled) activate(waiters[i], event);
        if (event.auto_reset) event.signalled = false;
        event.waiters.push_back(&waiters[i]);
    }
    const auto destroyed = [&] {
        return std::any_of(waiters.begin(), waiters.end(), [](const Waiter& w) { return w.destroyed; });
    };
    const auto ready = [&] {
        const auto activated = [](const Waiter& w) { return w.activated; };
        return all ? std::all_of(waiters.begin(), waiters.end(), activated)
                   : std::any_of(waiters.begin(), waiters.end(), activated);
    };
    const auto over = [&] { return destroyed() || ready(); };
    if (timeout_ms == abi::kInfiniteTimeoutMs)
        changed_.wait(lock, over);
    else
        changed_.wait_for(lock, std::chrono::milliseconds{timeout_ms}, over);

    for (std::size_t i = 0; i < events.size(); ++i) {
        if (waiters[i].destroyed) continue;
        Event& event = events_.at(events[i].event_id);
        std::erase(event.waiters, &waiters[i]);
        if (!waiters[i].activated) continue;
        if (event.type == abi::kEventMemory) events[i].memory = waiters[i].memory;
        if (event.type == abi::kEventHwException) events[i].hw = waiters[i].hw;
    }
    return destroyed() ? abi::kWaitFail : ready() ? abi::kWaitComplete : abi::kWaitTimeout;
}

}  // namespace kfdemu
