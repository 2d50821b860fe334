#include "resources/events.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "base/log.hpp"

namespace kfdemu {
namespace {

// ROCR's threads share auto-reset events and check the signal before they sleep, so one thread can take the wake-up
// that another is about to wait for. This race exists on hardware, too, where its window is far smaller; ROCR 6 fixes
// it with event ages. A wait without an age therefore returns after this time: the caller checks its signal and waits
// again. If an interrupt was dropped or delayed by fault injection, the wait uses the caller's full timeout.
constexpr std::chrono::milliseconds kLongestSleep{100};

bool asks_age(std::uint32_t type, const abi::EventData& data) {
    return type == abi::kEventSignal && data.last_event_age != 0;
}

bool has_slot(std::uint32_t type) { return type == abi::kEventSignal || type == abi::kEventDebug; }

}  // namespace

std::optional<std::uint32_t> Events::create(std::uint32_t type, bool auto_reset) {
    std::lock_guard lock{mutex_};
    std::uint32_t id = 0;
    if (has_slot(type)) {
        if (signal_events_ + 1 >= abi::kSignalEventLimit) return {};
        // Round robin, so that a delayed interrupt of a destroyed event does not reach a new event with the same id.
        while (events_.count(next_signal_id_)) next_signal_id_ = next_signal_id_ % (abi::kSignalEventLimit - 1) + 1;
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

void Events::signal(std::uint32_t id) {
    counters.interrupts += 1;
    const Injection::Interrupt how = injection().interrupt();
    if (how.action != InterruptAction::deliver) hold_back(id, how);
    if (how.action == InterruptAction::deliver || how.action == InterruptAction::duplicate) set(id);
}

void Events::hold_back(std::uint32_t id, const Injection::Interrupt& how) {
    std::lock_guard lock{mutex_};
    log(LogLevel::info, "interrupt of event {} is {}", id,
        how.action == InterruptAction::drop    ? "dropped"
        : how.action == InterruptAction::delay ? "late"
                                               : "doubled");
    if (auto at = events_.find(id); at != events_.end()) at->second.overdue = how.action != InterruptAction::duplicate;
    if (how.action == InterruptAction::drop) return;
    late_.push_back({clock::now_ns() + 1000 * how.delay_us, id});
    late_count_.store(late_.size(), std::memory_order_relaxed);
}

void Events::deliver_late() {
    if (late_count_.load(std::memory_order_relaxed) == 0) return;
    const std::uint64_t now_ns = clock::now_ns();
    std::lock_guard lock{mutex_};
    for (const Late& late : late_)
        if (auto at = events_.find(late.id); late.due_ns <= now_ns && at != events_.end()) activate(at->second);
    std::erase_if(late_, [&](const Late& late) { return late.due_ns <= now_ns; });
    late_count_.store(late_.size(), std::memory_order_relaxed);
}

void Events::activate(Waiter& waiter, const Event& event) {
    waiter.activated = true;
    waiter.age = event.age;
    waiter.memory = event.memory;
    waiter.hw = event.hw;
}

void Events::activate(Event& event) {
    ++event.age;
    for (Waiter* waiter : event.waiters) activate(*waiter, event);
    event.signalled = !event.auto_reset || event.waiters.empty();
    event.overdue = false;
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

std::optional<abi::WaitResult> Events::wait(std::span<abi::EventData> events, bool all, std::uint32_t timeout_ms) {
    std::unique_lock lock{mutex_};
    for (const abi::EventData& data : events)
        if (!events_.count(data.event_id)) return {};

    std::vector<Waiter> waiters(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        Event& event = events_.at(events[i].event_id);
        if (event.signalled || (asks_age(event.type, events[i]) && events[i].last_event_age != event.age))
            activate(waiters[i], event);
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
    const auto overdue = [&] {
        return std::any_of(events.begin(), events.end(), [&](const abi::EventData& data) {
            const auto at = events_.find(data.event_id);
            return at != events_.end() && at->second.overdue;
        });
    };
    const bool may_lose = std::any_of(events.begin(), events.end(), [&](const abi::EventData& data) {
        const std::uint32_t type = events_.at(data.event_id).type;
        return type == abi::kEventSignal && !asks_age(type, data);
    });
    using Clock = std::chrono::steady_clock;
    const bool forever = timeout_ms == abi::kInfiniteTimeoutMs;
    const auto deadline = Clock::now() + std::chrono::milliseconds{forever ? 0 : timeout_ms};
    bool timed_out = false;
    do {
        const auto cut = Clock::now() + kLongestSleep;
        timed_out = !forever && deadline <= cut;
        changed_.wait_until(lock, timed_out ? deadline : cut, over);
    } while (!over() && !timed_out && (!may_lose || overdue()));

    for (std::size_t i = 0; i < events.size(); ++i) {
        if (waiters[i].destroyed) continue;
        Event& event = events_.at(events[i].event_id);
        std::erase(event.waiters, &waiters[i]);
        if (!waiters[i].activated) continue;
        if (event.type == abi::kEventMemory) events[i].memory = waiters[i].memory;
        if (event.type == abi::kEventHwException) events[i].hw = waiters[i].hw;
        if (asks_age(event.type, events[i])) events[i].last_event_age = waiters[i].age;
    }
    if (destroyed()) return abi::kWaitFail;
    return ready() || !timed_out ? abi::kWaitComplete : abi::kWaitTimeout;
}

}  // namespace kfdemu
