#include "hsadrv/memory/ring_registry.hpp"

#include <mutex>

namespace hsadrv::detail {

namespace {
constinit std::mutex mutex;
constinit RingRegistry* first = nullptr;
}  // namespace

void RingRegistry::is(const hsa_queue_t* queue, AgentRef agent) noexcept {
    const std::lock_guard held(mutex);
    if (queue_ == nullptr) {
        after_ = first;
        if (after_) after_->before_ = this;
        first = this;
    }
    queue_ = queue;
    agent_ = agent;
}

void RingRegistry::leave() noexcept {
    const std::lock_guard held(mutex);
    if (queue_ == nullptr) return;
    (before_ ? before_->after_ : first) = after_;
    if (after_) after_->before_ = before_;
    queue_ = nullptr;
    before_ = after_ = nullptr;
}

bool RingRegistry::at(const void* address) noexcept {
    const std::lock_guard held(mutex);
    for (const RingRegistry* ring = first; ring; ring = ring->after_)
        if (ring->queue_->base_address == address) return true;
    return false;
}

std::size_t RingRegistry::used(AgentRef agent) noexcept {
    std::size_t count = 0;
    const std::lock_guard held(mutex);
    for (const RingRegistry* ring = first; ring; ring = ring->after_)
        if (ring->agent_ == agent && hsa_queue_load_write_index_relaxed(ring->queue_) != 0) ++count;
    return count;
}

}  // namespace hsadrv::detail
