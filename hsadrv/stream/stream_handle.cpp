#include "hsadrv/stream/stream_handle.hpp"

#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

StreamHandle::State StreamHandle::state() const {
    const std::lock_guard held(mutex_);
    return state_;
}

std::optional<Completion> StreamHandle::mark() const {
    const std::lock_guard held(mutex_);
    if (state_ != State::open) return std::nullopt;
    const std::lock_guard stream(core_->mutex());
    return core_->tail();
}

bool StreamHandle::reached(const Completion& completion) const {
    const std::lock_guard held(mutex_);
    return state_ == State::open ? core_->is_over(completion) : state_ == State::gone;
}

bool StreamHandle::keep_alive(const std::shared_ptr<const void>& object) const {
    const std::lock_guard held(mutex_);
    switch (state_) {
        case State::open:
            core_->hold(object);
            return true;
        case State::leaving:
        case State::lost:
            kept_.push_back(object);
            return true;
        case State::gone:
            break;
    }
    return false;
}

void StreamHandle::leave_capture(const CaptureSession& session) const noexcept {
    const std::lock_guard held(mutex_);
    if (state_ == State::open) core_->leave_capture(session);
}

void StreamHandle::leave(bool lost) noexcept {
    const std::lock_guard held(mutex_);
    state_ = lost ? State::lost : State::leaving;
    core_ = nullptr;
}

void StreamHandle::close() noexcept {
    std::vector<std::shared_ptr<const void>> done;  // destroyed without the mutex
    {
        const std::lock_guard held(mutex_);
        state_ = State::gone;
        core_ = nullptr;
        done.swap(kept_);
    }
}

}  // namespace hsadrv::detail
