#include "hsadrv/stream/stream_holds.hpp"

#include <algorithm>

namespace hsadrv::detail {

void StreamHolds::defer(std::shared_ptr<const void>&& object) {
    const std::lock_guard lock(mutex_);
    deferred_.push_back(std::move(object));
    has_deferred_.store(true, std::memory_order_release);
}

void StreamHolds::attach(std::shared_ptr<const void> object) {
    const std::lock_guard lock(mutex_);
    if (std::find(attached_.begin(), attached_.end(), object) == attached_.end())
        attached_.push_back(std::move(object));
}

StreamHolds::Kept StreamHolds::take_all() noexcept {
    const std::lock_guard lock(mutex_);
    has_deferred_.store(false, std::memory_order_release);
    return {std::exchange(attached_, {}), std::exchange(deferred_, {}), std::exchange(list_, {})};
}

}  // namespace hsadrv::detail
