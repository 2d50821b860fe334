#include "events.hpp"

#include <algorithm>
#include <vector>

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
    event.generation = ++generation_;
    events_.emplace(id, event);
    return id;
}

bool Events::destroy(std::uint32_t id) {
    std::lock_guard lock{mutex_};
    auto at = events_.find(id);
    if (at == events_.end()) return false;
    if (has_slot(at->second.type)) --signal_events_;
    events_.erase(at);
    changed_.notify_all();
    return true;
}

bool Events::set(std::uint32_t id) {
    std::lock_guard lock{mutex_};
    auto at = events_.find(id);
    if (at == events_.end()) return false;
    at->second.signalled = true;
    changed_.notify_all();
    return true;
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
        event.signalled = true;
    }
    changed_.notify_all();
}

void Events::raise(const abi::HwException& data) {
    std::lock_guard lock{mutex_};
    for (auto& [id, event] : events_) {
        if (event.type != abi::kEventHwException) continue;
        event.hw = data;
        event.signalled = true;
    }
    changed_.notify_all();
}

bool Events::collect(std::span<abi::EventData> events, bool all) {
    const auto is_set = [&](const abi::EventData& e) { return events_.at(e.event_id).signalled; };
    const bool ready = all ? std::all_of(events.begin(), events.end(), is_set)
                           : std::any_of(events.begin(), events.end(), is_set);
    if (!ready) return false;
    for (abi::EventData& data : events) {
        Event& event = events_.at(data.event_id);
        if (!event.signalled) continue;
        if (event.type == abi::kEventMemory) data.memory = event.memory;
        if (event.type == abi::kEventHwException) data.hw = event.hw;
        if (event.auto_reset) event.signalled = false;
    }
    return true;
}

std::optional<abi::WaitResult> Events::wait(std::span<abi::EventData> events, bool all,
                                            std::uint32_t timeout_ms) {
    std::unique_lock lock{mutex_};
    std::vector<std::uint64_t> generations;
    for (const abi::EventData& data : events) {
        auto at = events_.find(data.event_id);
        if (at == events_.end()) return {};
        generations.push_back(at->second.generation);
    }
    const auto destroyed = [&] {
        for (std::size_t i = 0; i < events.size(); ++i) {
            auto at = events_.find(events[i].event_id);
            if (at == events_.end() || at->second.generation != generations[i]) return true;
        }
        return false;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{timeout_ms};
    while (true) {
        if (destroyed()) return abi::kWaitFail;
        if (events.empty() ? all : collect(events, all)) return abi::kWaitComplete;
        if (timeout_ms == abi::kInfiniteTimeoutMs) {
            changed_.wait(lock);
        } else if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) {
            if (destroyed()) return abi::kWaitFail;
            return !events.empty() && collect(events, all) ? abi::kWaitComplete : abi::kWaitTimeout;
        }
    }
}

}  // namespace kfdemu
