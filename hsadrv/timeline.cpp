#include "hsadrv/timeline.hpp"

#include <algorithm>
#include <mutex>

namespace hsadrv::detail {

bool Timeline::fail(std::exception_ptr error, std::uint64_t complete) const noexcept {
    const std::lock_guard lock(mutex_);
    if (failed()) return false;
    error_ = std::move(error);
    const auto done = static_cast<std::uint64_t>(start - epoch_.ref().exchange(failed_value));
    decremented_at_failure_.store(done, std::memory_order_relaxed);
    completed_at_failure_.store(std::min(done, complete), std::memory_order_relaxed);
    failed_.store(true, std::memory_order_release);
    return true;
}

std::exception_ptr Timeline::error() const noexcept {
    const std::lock_guard lock(mutex_);
    return error_;
}

void Timeline::depend(std::shared_ptr<const Timeline> upstream, std::uint64_t count, std::uint64_t own) {
    const std::lock_guard lock(mutex_);
    upstreams_.push_back({std::move(upstream), count, own});
}

// Ends: a dependency points to an event that was recorded before the wait for it.
bool Timeline::lost(std::uint64_t count) const {
    if (has_failed()) return completed() < count;
    std::vector<Upstream> upstreams;
    {
        const std::lock_guard lock(mutex_);
        upstreams = upstreams_;
    }
    for (const Upstream& upstream : upstreams) {
        if (upstream.own > count || !upstream.timeline->lost(upstream.count)) continue;
        fail(upstream.timeline->error(), upstream.own - 1);
        return true;
    }
    // Those that are complete, and are not lost, never will be.
    const std::lock_guard lock(mutex_);
    std::erase_if(upstreams_, [&](const Upstream& mine) {
        return mine.own <= count && mine.timeline->reached(mine.count) && !mine.timeline->has_failed();
    });
    return false;
}

}  // namespace hsadrv::detail
