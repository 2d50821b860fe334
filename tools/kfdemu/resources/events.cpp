#include "tools/kfdemu/resources/events.hpp"

#include <algorithm>

#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/log.hpp"

namespace kfdemu {
namespace {

// ROCR 5 shares auto-reset events between threads and checks the signal before it sleeps, so one thread can take the
// wake-up that another is about to wait for. This race exists on hardware, too, where its window is far smaller; ROCR 6
// fixes it with event ages. A wait of at least this time therefore returns once at its start for a wake-up that was
// taken since the thread's last wait: the runtime then checks its signal again. Shorter waits end by their own timeout.
constexpr std::uint32_t kLongWaitMs = 10'000;

// Numbers the times that any event is set; relaxed, because Events::mutex_ orders each event's.
std::atomic<std::uint64_t> last_set{0};
thread_local std::uint64_t seen_set = 0;  // last_set at the end of this thread's last wait

bool asks_age(std::uint32_t type, const abi::EventData& data) {
    return type == abi::kEventSignal && data.last_event_age != 0;
}

constexpr std::uint64_t kUnsignalledSlot = ~std::uint64_t{0};

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
        take_mark(id);
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
    if (at == events_.end() || at->second.type != abi::kEventSignal) return false;
    activate(at->second);
    return true;
}

void Events::signal(std::uint32_t id) {
    counters.interrupts += 1;
    const Injection::Interrupt how = injection().interrupt();
    if (how.action != InterruptAction::deliver) hold_back(id, how);
    if (how.action == InterruptAction::deliver || how.action == InterruptAction::duplicate) {
        std::lock_guard lock{mutex_};
        deliver(id);
    }
}

bool Events::use_page(std::shared_ptr<Buffer> page) {
    std::lock_guard lock{mutex_};
    if (page_) return false;
    page_ = std::move(page);
    std::fill_n(reinterpret_cast<std::uint64_t*>(page_->host), abi::kSignalEventLimit, kUnsignalledSlot);
    return true;
}

/// Resets the slot of an event. Whether the device had stored to it.
bool Events::take_mark(std::uint32_t id) const {
    if (!page_ || id >= abi::kSignalEventLimit) return false;
    // Acquire: pairs with the device's release of the slot before its interrupt.
    std::uint64_t* slot = reinterpret_cast<std::uint64_t*>(page_->host) + id;
    if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) == kUnsignalledSlot) return false;
    // Before the event is set: a store in between is seen with this one.
    __atomic_store_n(slot, kUnsignalledSlot, __ATOMIC_RELEASE);
    return true;
}

void Events::deliver(std::uint32_t id) {
    const auto named = events_.find(id);
    if (named != events_.end() && (!page_ || take_mark(id))) return activate(named->second);
    for (auto& [slot, event] : events_)
        if (take_mark(slot)) activate(event);
}

void Events::hold_back(std::uint32_t id, const Injection::Interrupt& how) {
    std::lock_guard lock{mutex_};
    log(LogLevel::info, "interrupt of event {} is {}", id,
        how.action == InterruptAction::drop    ? "dropped"
        : how.action == InterruptAction::delay ? "late"
                                               : "doubled");
    if (how.action == InterruptAction::drop) return;
    late_.push_back({clock::now_ns() + 1000 * how.delay_us, id});
    late_count_.store(late_.size(), std::memory_order_relaxed);
}

void Events::deliver_late() {
    if (late_count_.load(std::memory_order_relaxed) == 0) return;
    const std::uint64_t now_ns = clock::now_ns();
    std::lock_guard lock{mutex_};
    for (const Late& late : late_)
        if (late.due_ns <= now_ns) deliver(late.id);
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
    event.last_set = last_set.fetch_add(1, std::memory_order_relaxed) + 1;
    for (Waiter* waiter : event.waiters) activate(*waiter, event);
    event.signalled = !event.auto_reset || event.waiters.empty();
    changed_.notify_all();
}

bool Events::reset(std::uint32_t id) {
    std::lock_guard lock{mutex_};
    auto at = events_.find(id);
    if (at == events_.end() || at->second.type != abi::kEventSignal) return false;
    at->second.signalled = false;
    return true;
}

void Events::raise(const abi::MemoryException& data) {
    smi_.vm_fault(data.gpu_id);
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
        const bool by_age = asks_age(event.type, events[i]);
        const bool missed = by_age ? events[i].last_event_age != event.age
                                   : event.auto_reset && timeout_ms >= kLongWaitMs && event.last_set > seen_set;
        if (event.signalled || (missed && event.type == abi::kEventSignal)) activate(waiters[i], event);
        if (event.auto_reset) event.signalled = false;
        event.waiters.push_back(&waiters[i]);
    }
    const auto destroyed = [&] {
        return std::any_of(waiters.begin(), waiters.end(), [](const Waiter& w) { return w.destroyed; });
    };
    const auto ready = [&] {
        const auto activated = [](const Waiter& w) { return w.activated; };
        return all || waiters.empty() ? std::all_of(waiters.begin(), waiters.end(), activated)
                                      : std::any_of(waiters.begin(), waiters.end(), activated);
    };
    const auto over = [&] { return destroyed() || ready(); };
    if (timeout_ms == abi::kInfiniteTimeoutMs) {
        changed_.wait(lock, over);
    } else {
        changed_.wait_until(lock, std::chrono::steady_clock::now() + std::chrono::milliseconds{timeout_ms}, over);
    }
    seen_set = last_set.load(std::memory_order_relaxed);

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
    return ready() ? abi::kWaitComplete : abi::kWaitTimeout;
}

}  // namespace kfdemu
