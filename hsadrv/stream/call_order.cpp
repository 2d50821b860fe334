#include "hsadrv/stream/call_order.hpp"

#include "hsadrv/error.hpp"
#include "hsadrv/signal/callback_thread.hpp"

namespace hsadrv::detail {

// The thread that has the order may always enter. A host function does not wait in the queue of waiters.
bool CallOrder::may_enter(const Waiter* me, bool passes) const noexcept {
    if (top_ == nullptr) return passes || first_ == me;
    return top_->owner == std::this_thread::get_id() || (passes && top_->passable);
}

std::unique_lock<LaneMutex> CallOrder::lock(Deadline deadline, bool joins) {
    const bool passes = joins || on_callback_thread();
    std::unique_lock held(mutex_);
    if (may_enter(nullptr, passes)) return held;
    Waiter me;
    enter(me);
    const auto turn = [&] { return may_enter(&me, passes); };
    bool entered = true;
    if (deadline.is_never())
        changed_.wait(held, turn);
    else
        entered = changed_.wait_for(held, deadline.remaining(), turn);
    leave(me);
    if (!entered) held.unlock();
    return held;
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
    return claim == nullptr && first_ == nullptr;
}

// A host function, too, waits here for threads that it would pass.
void CallOrder::end() noexcept {
    std::unique_lock held(mutex_);
    ends_ = true;
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
    : order_(order), deadline_(joins ? Deadline::never() : deadline), late_(late), joins_(joins), kept_(order) {
    kept_.claim().passable = what == While::waiting;
    order_.changed();
    order_.mutex_.unlock();
}

CallOrder::Away::~Away() {
    std::unique_lock held = order_.lock(deadline_, joins_);
    late_ = !held.owns_lock();
    if (late_) held.lock();
    held.release();
}

CallOrder::Composite::Composite(CallOrder& order, std::unique_lock<LaneMutex> held) noexcept : order_(order) {
    kept_.emplace(order);
    kept_->claim().passable = kept_->claim().composite = true;
    order_.changed();
    held.unlock();
}

CallOrder::Composite::~Composite() {
    const std::lock_guard held(order_.mutex_);
    kept_.reset();
}

void throw_late(const char* call, Deadline deadline, const std::string& stream) {
    throw Timeout(std::string(call) + "(" + deadline.text() + ", " + stream +
                  "): another thread's call of the stream waits");
}

}  // namespace hsadrv::detail
