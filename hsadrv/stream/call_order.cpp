#include "hsadrv/stream/call_order.hpp"

#include "hsadrv/signal/callback_thread.hpp"

namespace hsadrv::detail {

bool CallOrder::may_enter() const noexcept {
    return owner_ == std::thread::id() || is_mine() || (waits_ && on_callback_thread());
}

std::unique_lock<LaneMutex> CallOrder::lock(Deadline deadline) {
    std::unique_lock held(mutex_);
    const auto enter = [this] { return may_enter(); };
    if (enter()) return held;
    ++waiters_;
    bool entered = true;
    if (deadline.is_never())
        changed_.wait(held, enter);
    else
        entered = changed_.wait_for(held, deadline.remaining(), enter);
    --waiters_;
    if (!entered) held.unlock();
    return held;
}

void CallOrder::tell_waiters() noexcept {
    if (waiters_ != 0) changed_.notify_all();
}

CallOrder::Kept::Kept(CallOrder& order) noexcept : order_(order), mine_(order.owner_ == std::thread::id()) {
    if (!mine_) return;
    order_.owner_ = std::this_thread::get_id();
    order_.mutex_.set_ordered(true);
}

CallOrder::Kept::~Kept() {
    if (!mine_) return;
    order_.owner_ = {};
    order_.mutex_.set_ordered(false);
    order_.tell_waiters();
}

CallOrder::Away::Away(CallOrder& order, While what) noexcept : order_(order), kept_(order) {
    if (order_.is_mine() && what == While::waiting) {
        order_.waits_ = true;
        order_.tell_waiters();  // host functions go between
    }
    order_.mutex_.unlock();
}

// A host function that went between does not come back while the owner works.
CallOrder::Away::~Away() {
    order_.lock(Deadline::never()).release();  // the caller's again
    if (order_.is_mine()) order_.waits_ = false;
}

CallOrder::Composite::Composite(CallOrder& order, std::unique_lock<LaneMutex> held) noexcept : order_(order) {
    kept_.emplace(order);
    held.unlock();
}

CallOrder::Composite::~Composite() {
    const std::lock_guard held(order_.mutex_);
    kept_.reset();
}

}  // namespace hsadrv::detail
