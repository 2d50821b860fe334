#include "hsadrv/stream/call_order.hpp"

#include "hsadrv/signal/callback_thread.hpp"

namespace hsadrv::detail {

// The thread that has the order may always enter. A host function does not wait in the queue of waiters.
bool CallOrder::may_enter(const Waiter* me) const noexcept {
    return is_mine() || (state_.owner == std::thread::id() && (first_ == me || on_callback_thread())) ||
           (state_.passable && on_callback_thread());
}

std::unique_lock<LaneMutex> CallOrder::lock(Deadline deadline) {
    std::unique_lock held(mutex_);
    if (may_enter(nullptr)) return held;
    Waiter me;
    enter(me);
    const auto turn = [&] { return may_enter(&me); };
    bool entered = true;
    if (deadline.is_never())
        changed_.wait(held, turn);
    else
        entered = changed_.wait_for(held, deadline.remaining(), turn);
    leave(me);
    if (!entered) held.unlock();
    return held;
}

void CallOrder::enter(Waiter& me) noexcept {
    Waiter** last = &first_;
    while (*last != nullptr) last = &(*last)->next;
    *last = &me;
    set(state_);
}

void CallOrder::leave(Waiter& me) noexcept {
    Waiter** at = &first_;
    while (*at != &me) at = &(*at)->next;
    *at = me.next;
    set(state_);  // the next one's turn, when the mutex is given back
}

// The fast path passes no thread that waits for its turn.
void CallOrder::set(const State& state) noexcept {
    state_ = state;
    mutex_.set_ordered(state_.owner != std::thread::id() || first_ != nullptr);
    if (first_ != nullptr) changed_.notify_all();
}

CallOrder::Kept::Kept(CallOrder& order) noexcept : order_(order), before_(order.state_) {
    if (!order_.is_mine()) order_.set({.owner = std::this_thread::get_id()});
}

CallOrder::Kept::~Kept() { order_.set(before_); }

CallOrder::Away::Away(CallOrder& order, While what) noexcept : order_(order), kept_(order) {
    State state = order_.state_;
    state.passable = what == While::waiting;
    order_.set(state);
    order_.mutex_.unlock();
}

// A host function may have the order: it is waited for.
CallOrder::Away::~Away() { order_.lock(Deadline::never()).release(); }

CallOrder::Composite::Composite(CallOrder& order, std::unique_lock<LaneMutex> held) noexcept : order_(order) {
    kept_.emplace(order);
    order_.set({.owner = order_.state_.owner, .passable = true, .composite = true});
    held.unlock();
}

CallOrder::Composite::~Composite() {
    order_.lock(Deadline::never()).release();
    kept_.reset();
    order_.mutex_.unlock();
}

}  // namespace hsadrv::detail
