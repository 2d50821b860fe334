#include "hsadrv/queue_ring.hpp"

#include <mutex>

namespace hsadrv::detail {

namespace {
constinit std::mutex mutex;
constinit QueueRing* first = nullptr;
}  // namespace

void QueueRing::is(const void* ring) noexcept {
    const std::lock_guard held(mutex);
    if (ring_ == nullptr) {
        after_ = first;
        if (after_) after_->before_ = this;
        first = this;
    }
    ring_ = ring;
}

QueueRing::~QueueRing() {
    if (ring_ == nullptr) return;
    const std::lock_guard held(mutex);
    (before_ ? before_->after_ : first) = after_;
    if (after_) after_->before_ = before_;
}

bool QueueRing::at(const void* address) noexcept {
    const std::lock_guard held(mutex);
    for (const QueueRing* ring = first; ring; ring = ring->after_)
        if (ring->ring_ == address) return true;
    return false;
}

}  // namespace hsadrv::detail
