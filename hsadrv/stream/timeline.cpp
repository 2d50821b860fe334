#include "hsadrv/stream/timeline.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/signal/signal_value.hpp"
#include "hsadrv/signal_callbacks.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/live_streams.hpp"

namespace hsadrv::detail {

Timeline::Timeline(std::string label, std::uint32_t packets)
    : label_(std::move(label)),
      epoch_(Signal::create(start)),
      epoch_value_(signal_value(epoch_.ref().native())),
      mask_(2 * packets - 1),
      slots_(std::make_unique<std::atomic<std::uint64_t>[]>(2 * packets)) {}

bool Timeline::fail(std::exception_ptr error, std::uint64_t intact) const noexcept {
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        const std::uint64_t before = lost_after_.load(std::memory_order_relaxed);
        lost_after_.store(std::min(before, intact == UINT64_MAX ? finished() : intact), std::memory_order_relaxed);
        first = !failed();
        if (first) error_ = std::move(error);
        failed_.store(true, std::memory_order_release);
    }
    const std::uint64_t from = lost_after_.load(std::memory_order_relaxed) + 1;
    hurry(from);
    if (const auto runtime = Runtime::find()) runtime->copies().hurry(waits(), from);
    return first;
}

void Timeline::hurry(std::uint64_t from) const noexcept {
    const auto runtime = Runtime::find();
    if (!runtime) return;
    runtime->callbacks().hurry(this, from);
    runtime->callbacks().hurry(host_functions());
    runtime->copies().hurry(this, from);
}

void Timeline::lose_rest() const noexcept {
    if (failed()) fail(nullptr);
}

void Timeline::lose_copies() const noexcept {
    if (!failed()) return;
    copies_lost_.store(true, std::memory_order_release);
    hurry(0);
}

bool Timeline::may_follow(const Completion& before) const noexcept {
    return intact(before.epochs) && !copies_lost_.load(std::memory_order_acquire) && !lost_copy(before);
}

// failed() is true before fail() makes callbacks due, so what was lost before the registration is seen here.
void Timeline::call_when(SignalCallbacks& thread, const Completion& completion, std::function<void()> function) const {
    const auto [signal, below] = signal_of(completion);
    thread.on_signal(signal, Condition::less, below, std::move(function), live_streams::poll, this, completion.epochs);
    if (failed() && !reached(completion) && (!intact(completion.epochs) || lost_copy(completion)))
        thread.hurry(this, completion.epochs);
}

void Timeline::call_host(SignalCallbacks& thread, SignalRef signal, std::int64_t below,
                         std::function<void()> function) const {
    thread.on_signal(signal, Condition::less, below, std::move(function), live_streams::poll, host_functions());
    if (failed()) thread.hurry(host_functions());
}

std::exception_ptr Timeline::error() const noexcept {
    const std::lock_guard lock(mutex_);
    return error_;
}

// Drops a completed dependency for each one added, so there are never more than were in flight at once. The
// dropped one is destroyed after the lock is released: its destructor takes locks.
void Timeline::depend(const std::shared_ptr<const Timeline>& upstream, const Completion& completion,
                      std::uint64_t own) {
    Upstream over;
    const std::uint64_t complete = finished();
    const std::lock_guard lock(mutex_);
    if (!upstreams_.empty() && upstreams_.front().own <= complete) std::swap(over, upstreams_.drop_front());
    Upstream& mine = upstreams_.push_back();
    mine.timeline = upstream;
    mine.completion = completion;
    mine.own = own;
}

void Timeline::make_room_for_upstream() {
    const std::lock_guard lock(mutex_);
    upstreams_.make_room(1);
}

void Timeline::forget_upstreams() noexcept {
    GrowingRing<Upstream> over;
    const std::lock_guard lock(mutex_);
    over.swap(upstreams_);
}

void Timeline::undo_depend() noexcept {
    Upstream last;
    const std::lock_guard lock(mutex_);
    last = upstreams_.pop_back();
}

std::shared_ptr<const Timeline> Timeline::upstream_of(std::uint64_t own) const {
    if (own <= finished()) return nullptr;
    const std::optional<Upstream> upstream = next_upstream(own - 1);
    return upstream && upstream->own == own ? upstream->timeline : nullptr;
}

bool Timeline::Upstream::reached() const noexcept {
    return timeline->reached(completion) && !timeline->lost_copy(completion);
}

bool Timeline::Upstream::lost(Asked& asked) const {
    return timeline->lost_copy(completion) || timeline->lost(completion.epochs, asked);
}

bool Timeline::lost_copy(const Completion& completion) const noexcept {
    if (!completion.copy) return false;
    const std::int64_t value = completion.copy->ref().load();
    if (value < 0 && intact(completion.epochs + 1)) lose_copy_after(completion.epochs);
    return value < 0 || (value > 0 && copies_lost_.load(std::memory_order_acquire));
}

// If this is the first failure, the copy has run: copies that are not complete come after it, and engines that have
// them wait for it for ever.
void Timeline::lose_copy_after(std::uint64_t intact) const noexcept {
    bool first = false;
    try {
        first = fail(std::make_exception_ptr(Error("a copy of " + label() + " failed: its engine reports an error")),
                     intact);
    } catch (...) {
        first = fail(std::current_exception(), intact);
    }
    if (first) lose_copies();
}

bool Timeline::lost(const Completion& completion) const { return lost_copy(completion) || lost(completion.epochs); }

bool Timeline::lost(std::uint64_t count) const {
    Asked asked;
    return lost(count, asked);
}

// Terminates: a dependency is on an event that was recorded before the wait for it. A complete packet has had all its
// dependencies, so only packets in flight are followed, and each timeline once per count.
bool Timeline::lost(std::uint64_t count, Asked& asked) const {
    if (reached(count)) return false;
    if (failed() && count > lost_after_.load(std::memory_order_relaxed)) return true;
    const auto [known, first] = asked.try_emplace(this, count);
    if (!first) {
        if (known->second >= count) return false;
        known->second = count;
    }
    std::uint64_t own = finished();
    for (std::optional<Upstream> next; (next = next_upstream(own)) && next->own <= count; own = next->own) {
        if (next->reached() || !next->lost(asked)) continue;
        fail(next->timeline->error(), next->own - 1);
        return true;
    }
    return false;
}

bool Timeline::try_lost() const noexcept {
    try {
        // The rest is lost already; what waits before it may be lost, too.
        if (failed()) static_cast<void>(lost(std::min(submitted(), lost_after_.load(std::memory_order_relaxed))));
        return lost(submitted());
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// Returns a copy, so that nothing is allocated or destroyed with the lock held.
std::optional<Timeline::Upstream> Timeline::next_upstream(std::uint64_t own) const {
    const std::lock_guard lock(mutex_);
    std::size_t first = 0, last = upstreams_.size();
    while (first < last) {
        const std::size_t middle = (first + last) / 2;
        if (upstreams_[middle].own <= own)
            first = middle + 1;
        else
            last = middle;
    }
    if (first == upstreams_.size()) return std::nullopt;
    return upstreams_[first];
}

void Timeline::forget_reached() const noexcept {
    const std::uint64_t complete = finished();
    for (;;) {
        Upstream over;
        const std::lock_guard lock(mutex_);
        if (upstreams_.empty() || upstreams_.front().own > complete) return;
        over = upstreams_.pop_front();
    }
}

}  // namespace hsadrv::detail
