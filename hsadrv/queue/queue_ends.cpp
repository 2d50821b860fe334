#include "hsadrv/queue/queue_ends.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail {

namespace {

struct EndSubscribers {
    Ranked<std::mutex, LockRank::leaf> mutex;
    std::vector<QueueEnds*> all;
};

// Never destroyed: queues in static storage may end at any time.
EndSubscribers& end_subscribers() {
    static auto* const subscribers = new EndSubscribers;
    return *subscribers;
}

}  // namespace

QueueEnds::QueueEnds(Function function) : function_(std::move(function)) {
    auto& [mutex, all] = end_subscribers();
    const std::lock_guard lock(mutex);
    all.push_back(this);
}

QueueEnds::~QueueEnds() {
    auto& [mutex, all] = end_subscribers();
    const std::lock_guard lock(mutex);
    std::erase(all, this);
}

void QueueEnds::tell(const RingRange& ring, bool ended) noexcept {
    auto& [mutex, all] = end_subscribers();
    const std::lock_guard lock(mutex);
    for (const QueueEnds* subscriber : all) subscriber->function_(ring, ended);
}

}  // namespace hsadrv::detail
