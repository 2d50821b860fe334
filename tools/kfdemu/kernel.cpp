#include "kernel.hpp"

#include "aql_queue.hpp"
#include "clock.hpp"

namespace kfdemu {
namespace {
// A work-group runs for so many instructions before others get a turn; a worker stays with a kernel for so long before it
// looks at the queues again.
constexpr std::uint64_t kQuantumInstructions = 50'000;
constexpr std::uint64_t kStayNs = 200'000;
}  // namespace

std::unique_ptr<WorkGroup> GroupPool::take() {
    std::lock_guard lock{mutex_};
    if (free_.empty()) return std::make_unique<WorkGroup>();
    auto group = std::move(free_.back());
    free_.pop_back();
    return group;
}

void GroupPool::give_back(std::unique_ptr<WorkGroup> group) {
    std::lock_guard lock{mutex_};
    free_.push_back(std::move(group));
}

Kernel::Kernel(std::shared_ptr<AqlQueue> queue, std::shared_ptr<Dispatch> dispatch, GroupPool& pool,
               std::uint64_t index, std::size_t max_resident_groups)
    : queue_{std::move(queue)},
      dispatch_{std::move(dispatch)},
      pool_{pool},
      index_{index},
      start_ticks_{clock::now()},
      max_resident_groups_{max_resident_groups} {}

Work::Result Kernel::run() {
    const std::uint64_t until = clock::now_ns() + kStayNs;
    bool did = false;
    do {
        auto group = take();
        if (!group) break;
        did = true;
        switch (group->run(kQuantumInstructions)) {
            case WorkGroup::Progress::Ended:
            case WorkGroup::Progress::Stopped: pool_.give_back(std::move(group)); break;
            case WorkGroup::Progress::Paused: put_aside(std::move(group)); break;
            case WorkGroup::Progress::Idle:
                put_aside(std::move(group));
                return Result::some;  // it waits for something outside: look there first
        }
    } while (clock::now_ns() < until);

    if (dispatch_->state() == Dispatch::State::Running || !dispatch_->claim_end())
        return did ? Result::some : Result::idle;
    queue_->finished(*this);
    std::lock_guard lock{mutex_};
    gone_ = true;
    gone_changed_.notify_all();
    return Result::done;
}

/// The group to run next, or nothing if all that is left runs on other workers.
std::unique_ptr<WorkGroup> Kernel::take() {
    std::lock_guard lock{mutex_};
    if (turns_ >= aside_.size() && aside_.size() < max_resident_groups_) {
        auto group = pool_.take();
        if (dispatch_->start_group(*group) == Dispatch::Start::Started) {
            turns_ = 0;
            return group;
        }
        pool_.give_back(std::move(group));
    }
    if (aside_.empty()) return nullptr;
    auto group = std::move(aside_.front());
    aside_.pop_front();
    ++turns_;
    return group;
}

void Kernel::put_aside(std::unique_ptr<WorkGroup> group) {
    std::lock_guard lock{mutex_};
    aside_.push_back(std::move(group));
}

void Kernel::wait_until_gone() {
    std::unique_lock lock{mutex_};
    gone_changed_.wait(lock, [&] { return gone_; });
}

}  // namespace kfdemu
