#include "hsadrv/signal/signal_wait.hpp"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "hsadrv/driver.hpp"
#include "hsadrv/optional_api.hpp"

namespace hsadrv::detail {

namespace {

using namespace std::chrono_literals;

// Long enough to see a short kernel complete without a call; short compared to a context switch.
constexpr int spins = 200;
// A follower, which sleeps until another waiter returns, checks the signal itself at this interval, in case that waiter
// is stopped.
constexpr auto follower_slice = 100ms;
// The longest list whose entries need no allocation.
constexpr std::size_t short_list = 16;

/// Ticks of the runtime's clock, the unit of hsa_signal_wait's timeout.
std::uint64_t ticks(std::chrono::nanoseconds time) {
    if (time == std::chrono::nanoseconds::max()) return UINT64_MAX;
    static const double ticks_per_ns = [] {
        std::uint64_t hz = 0;
        hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz);
        return hz == 0 ? 1.0 : static_cast<double>(hz) / 1e9;
    }();
    return static_cast<std::uint64_t>(static_cast<double>(time.count()) * ticks_per_ns) + 1;
}

void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// True if a change of the signal raises an interrupt: like the packet processor, checks for an event mailbox.
bool raises_interrupts(SignalRef signal) noexcept {
    return reinterpret_cast<const amd_signal_t*>(signal.native().handle)->event_mailbox_ptr != 0;
}

/// A thread of this library that sleeps in the runtime for this signal. Allocated on that thread's stack.
struct Waiter {
    SignalTerm term;
    Waiter* next = nullptr;
};

/// The waiters for the signals of one hash bucket.
struct WaiterTable {
    std::mutex mutex;
    std::condition_variable left;
    Waiter* first = nullptr;

    Waiter* find(SignalRef signal) const noexcept {
        for (Waiter* waiter = first; waiter != nullptr; waiter = waiter->next)
            if (waiter->term.signal == signal) return waiter;
        return nullptr;
    }
    void enter(Waiter& waiter) noexcept {
        waiter.next = first;
        first = &waiter;
    }
    void leave(Waiter& waiter) noexcept {
        const std::lock_guard lock(mutex);
        for (Waiter** at = &first; *at != nullptr; at = &(*at)->next)
            if (*at == &waiter) {
                *at = waiter.next;
                break;
            }
        left.notify_all();
    }
};

WaiterTable& waiters_of(SignalRef signal) noexcept {
    static auto* all = new std::array<WaiterTable, 64>;  // never destroyed: threads may wait at exit
    return (*all)[signal.native().handle / 64 % all->size()];
}

/// Sleeps until the signal may have met the condition.
void sleep_for_one(const SignalTerm& term, Deadline deadline, Backoff& naps) noexcept {
    if (!raises_interrupts(term.signal)) return naps.take(deadline);
    WaiterTable& waiters = waiters_of(term.signal);
    Waiter self{term};
    {
        std::unique_lock lock(waiters.mutex);
        if (const Waiter* other = waiters.find(term.signal)) {
            if (other->term.condition == term.condition && other->term.than == term.than) {
                const auto slice = std::min<std::chrono::nanoseconds>(follower_slice, deadline.remaining());
                waiters.left.wait_for(lock, slice);
                return;
            }
            lock.unlock();
            return naps.take(deadline);
        }
        waiters.enter(self);
    }
    hsa_signal_wait_scacquire(term.signal.native(), native_condition(term.condition), term.than,
                              ticks(deadline.remaining()), HSA_WAIT_STATE_BLOCKED);
    waiters.leave(self);
}

// ---- several signals

/// Arguments to sleep on a list: each signal once, with a condition that holds whenever one of its terms does.
struct SleepList {
    struct Entry {
        Waiter waiter;
        bool entered = false;
    };
    std::array<Entry, short_list> short_entries;
    std::vector<Entry> long_entries;
    std::vector<hsa_signal_t> signals;
    std::vector<hsa_signal_condition_t> conditions;
    std::vector<hsa_signal_value_t> than;
    std::span<Entry> entries;

    /// Throws bad_alloc.
    explicit SleepList(std::span<const SignalTerm> terms) {
        if (terms.size() <= short_list) {
            entries = short_entries;
        } else {
            long_entries.resize(terms.size());
            entries = long_entries;
        }
        std::size_t count = 0;
        for (const SignalTerm& term : terms) {
            const auto known = std::find_if(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                                            [&](const Entry& e) { return e.waiter.term.signal == term.signal; });
            if (known == entries.begin() + static_cast<std::ptrdiff_t>(count))
                entries[count++].waiter.term = term;
            else
                known->waiter.term = either(known->waiter.term, term);
        }
        entries = entries.first(count);
        for (const Entry& entry : entries) {
            signals.push_back(entry.waiter.term.signal.native());
            conditions.push_back(native_condition(entry.waiter.term.condition));
            than.push_back(entry.waiter.term.than);
        }
    }

    /// A term that holds whenever a or b does; both are of one signal.
    static SignalTerm either(const SignalTerm& a, const SignalTerm& b) noexcept {
        if (a.condition == b.condition && a.than == b.than) return a;
        if (a.condition == Condition::less && b.condition == Condition::less)
            return {a.signal, Condition::less, std::max(a.than, b.than)};
        if (a.condition == Condition::greater_equal && b.condition == Condition::greater_equal)
            return {a.signal, Condition::greater_equal, std::min(a.than, b.than)};
        return {a.signal, Condition::not_equal, a.signal.load()};
    }

    /// Enters this thread as the waiter for every signal. False, and no change, if one of them has one.
    bool enter() noexcept {
        for (Entry& entry : entries) {
            WaiterTable& waiters = waiters_of(entry.waiter.term.signal);
            const std::lock_guard lock(waiters.mutex);
            if (waiters.find(entry.waiter.term.signal) != nullptr) break;
            waiters.enter(entry.waiter);
            entry.entered = true;
        }
        if (std::all_of(entries.begin(), entries.end(), [](const Entry& e) { return e.entered; })) return true;
        leave();
        return false;
    }
    void leave() noexcept {
        for (Entry& entry : entries)
            if (std::exchange(entry.entered, false)) waiters_of(entry.waiter.term.signal).leave(entry.waiter);
    }
};

/// ROCR 6.4's hsa_amd_signal_wait_any writes the satisfying value at the signal's index into a vector of one
/// element (core/runtime/hsa_ext_amd.cpp), so it is not used from that release on, which introduced wait_all.
bool wait_any_is_sound() { return !optional_api().signal_wait_all; }

std::optional<std::size_t> first_that_holds(std::span<const SignalTerm> terms) noexcept {
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (holds(terms[i].condition, terms[i].signal.load(), terms[i].than)) return i;
    return std::nullopt;
}

/// Sleeps until one of the terms may hold.
void sleep_for_any(std::span<const SignalTerm> terms, Deadline deadline, Backoff& naps) noexcept {
    if (terms.size() == 1) return sleep_for_one(terms.front(), deadline, naps);
    const auto wakes = [](const SignalTerm& term) { return raises_interrupts(term.signal); };
    if (!wait_any_is_sound() || !std::all_of(terms.begin(), terms.end(), wakes)) return naps.take(deadline);
    try {
        SleepList list(terms);
        // either() may have recorded a value that already satisfies a term, so check again before sleeping.
        if (first_that_holds(terms)) return;
        if (!list.enter()) return naps.take(deadline);
        hsa_signal_value_t satisfying = 0;
        hsa_amd_signal_wait_any(static_cast<std::uint32_t>(list.signals.size()), list.signals.data(),
                                list.conditions.data(), list.than.data(), ticks(deadline.remaining()),
                                HSA_WAIT_STATE_BLOCKED, &satisfying);
        list.leave();
    } catch (const std::bad_alloc&) {
        naps.take(deadline);
    }
}

}  // namespace

void Backoff::take(Deadline deadline) noexcept {
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - start_;
    // Yields first, like the runtime: a short operation ends sooner than a sleep.
    if (waited < 100us) return std::this_thread::yield();
    const std::chrono::nanoseconds nap = std::clamp<std::chrono::nanoseconds>(waited / 16, 20us, 1ms);
    std::this_thread::sleep_for(std::min(nap, deadline.remaining()));
}

std::optional<std::int64_t> wait_one(SignalRef signal, Condition condition, std::int64_t than,
                                     Deadline deadline) noexcept {
    if (in_forked_child()) return std::nullopt;  // the signal's memory is not mapped in the child
    for (int i = 0; i < spins; ++i) {
        if (const std::int64_t value = signal.load(); holds(condition, value, than)) return value;
        relax();
    }
    for (Backoff naps;;) {
        const bool last = deadline.passed();
        // Blocked waits may return early (POSIX signals, other waiters), so check the value.
        if (!last) sleep_for_one({signal, condition, than}, deadline, naps);
        if (const std::int64_t value = signal.load(); holds(condition, value, than)) return value;
        if (last) return std::nullopt;
    }
}

std::optional<std::size_t> wait_any(std::span<const SignalTerm> terms, Deadline deadline) noexcept {
    if (in_forked_child()) return std::nullopt;
    for (int i = 0; i < spins; ++i) {
        if (const auto index = first_that_holds(terms)) return index;
        relax();
    }
    for (Backoff naps;;) {
        const bool last = deadline.passed();
        if (!last) sleep_for_any(terms, deadline, naps);
        if (const auto index = first_that_holds(terms)) return index;
        if (last) return std::nullopt;
    }
}

std::string condition_text(Condition condition, std::int64_t than) {
    static constexpr const char* names[] = {"==", "!=", "<", ">="};
    return std::string(names[static_cast<int>(condition)]) + " " + std::to_string(than);
}

}  // namespace hsadrv::detail
