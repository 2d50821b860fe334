#include "hsadrv/stream/call_order.hpp"

#include "hsadrv/error.hpp"
#include "hsadrv/signal/callback_thread.hpp"

namespace hsadrv::detail {
namespace {
thread_local CallOrder::Composite* innermost = nullptr;  // of this thread, on any stream
}

// The thread that has the order may always enter. A host function does not wait in the queue of waiters. At the end
// each call enters, and finds that the stream has failed.
bool CallOrder::may_enter(const Waiter* me, bool passes) const noexcept {
    if (ends_) return true;
    if (top_ == nullptr) return passes || first_ == me;
    return top_->owner == std::this_thread::get_id() || (passes && top_->passable);
}

std::unique_lock<LaneMutex> CallOrder::lock(Deadline deadline, bool joins) {
    const bool passes = joins || on_callback_thread();
    std::unique_lock held(mutex_);
    const auto count = [&] { passes_ += top_ != nullptr && top_->owner != std::this_thread::get_id(); };
    if (may_enter(nullptr, passes)) return count(), std::move(held);
    Waiter me;
    enter(me);
    const auto turn = [&] { return may_enter(&me, passes); };
    bool entered = true;
    if (deadline.is_never())
        changed_.wait(held, turn);
    else
        entered = changed_.wait_for(held, deadline.remaining(), turn);
    leave(me);
    if (entered)
        count();
    else
        held.unlock();
    return held;
}

CallOrder::Visit::~Visit() {
    const std::lock_guard held(order_.mutex_);
    Visit** at = &order_.visits_;
    while (*at != this) at = &(*at)->below_;
    *at = below_;
    order_.changed();
}

CallOrder::Claim* CallOrder::mine() const noexcept {
    Claim* claim = top_;
    while (claim != nullptr && claim->owner != std::this_thread::get_id()) claim = claim->below;
    return claim;
}

bool CallOrder::is_part() const noexcept {
    const Claim* const claim = mine();
    return claim != nullptr && claim->composite;
}

bool CallOrder::is_left() const noexcept {
    const Claim* claim = top_;
    while (claim != nullptr && claim->owner == std::this_thread::get_id()) claim = claim->below;
    const Visit* visit = visits_;
    while (visit != nullptr && visit->owner_ == std::this_thread::get_id()) visit = visit->below_;
    return claim == nullptr && first_ == nullptr && visit == nullptr;
}

// A host function, too, waits here for threads that it would pass.
void CallOrder::end() noexcept {
    std::unique_lock held(mutex_);
    ends_ = true;
    changed_.notify_all();
    changed_.wait(held, [&] { return is_left(); });
}

void CallOrder::enter(Waiter& me) noexcept {
    Waiter** last = &first_;
    while (*last != nullptr) last = &(*last)->next;
    *last = &me;
    changed();
}

void CallOrder::leave(Waiter& me) noexcept {
    Waiter** at = &first_;
    while (*at != &me) at = &(*at)->next;
    *at = me.next;
    changed();  // the next one's turn, when the mutex is given back
}

// The fast path passes no thread that waits for its turn.
void CallOrder::changed() noexcept {
    mutex_.set_ordered(top_ != nullptr || first_ != nullptr);
    if (first_ != nullptr || ends_) changed_.notify_all();
}

CallOrder::Kept::Kept(CallOrder& order) noexcept
    : order_(order), claim_(order.mine() != nullptr ? order.mine() : &own_), before_(*claim_) {
    if (claim_ != &own_) return;
    own_.below = order_.top_;
    order_.top_ = &own_;
    order_.changed();
}

CallOrder::Kept::~Kept() {
    claim_->passable = before_.passable;
    claim_->composite = before_.composite;
    if (claim_ == &own_) {
        Claim** at = &order_.top_;
        while (*at != &own_) at = &(*at)->below;
        *at = own_.below;
    }
    order_.changed();
}

CallOrder::Away::Away(CallOrder& order, Deadline deadline, bool& late, While what, bool joins) noexcept
    : order_(order),
      deadline_(joins ? Deadline::never() : deadline),
      late_(late),
      joins_(joins),
      waits_(what == While::waiting),
      kept_(order) {
    kept_.claim().passable = waits_;
    order_.changed();
    order_.mutex_.unlock();
    if (waits_ && innermost != nullptr) innermost->open(order_);
}

CallOrder::Away::~Away() {
    if (waits_ && innermost != nullptr) late_ |= !innermost->close(order_, deadline_, joins_);
    std::unique_lock held = order_.lock(deadline_, joins_);
    if (!held.owns_lock()) {
        late_ = true;
        held.lock();
    }
    held.release();
}

CallOrder::Composite::Composite(CallOrder& order, std::unique_lock<LaneMutex> held) noexcept
    : order_(order), outer_(innermost) {
    kept_.emplace(order);
    kept_->claim().composite = true;
    order_.changed();
    held.unlock();
    innermost = this;
}

CallOrder::Composite::~Composite() {
    innermost = outer_;
    const std::lock_guard held(order_.mutex_);
    kept_.reset();
}

// With the outer ones, but for an Away's own order.
void CallOrder::Composite::open(const CallOrder& but) noexcept {
    if (&order_ != &but) {
        const std::lock_guard held(order_.mutex_);
        kept_->claim().passable = true;
        order_.changed();
    }
    if (outer_ != nullptr) outer_->open(but);
}

// The outermost first: what goes between there may need the inner ones. False: it has one of them still.
bool CallOrder::Composite::close(const CallOrder& but, Deadline deadline, bool joins) noexcept {
    bool in_time = outer_ == nullptr || outer_->close(but, deadline, joins);
    if (&order_ == &but) return in_time;
    std::unique_lock held = order_.lock(deadline, joins);
    if (!held.owns_lock()) {
        in_time = false;
        held.lock();
    }
    kept_->claim().passable = false;
    return in_time;
}

void throw_late(const char* call, Deadline deadline, const std::string& stream) {
    throw Timeout(std::string(call) + "(" + deadline.text() + ", " + stream +
                  "): another thread's call of the stream waits");
}

}  // namespace hsadrv::detail
