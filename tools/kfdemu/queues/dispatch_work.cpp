#include "queues/dispatch_work.hpp"

#include "base/behaviour.hpp"
#include "base/clock.hpp"
#include "base/counters.hpp"
#include "queues/aql_queue.hpp"
#include "resources/device_access.hpp"

namespace kfdemu {
namespace {
// Instructions that a work-group runs before the next one; time that a worker stays with a kernel before it serves the
// queues again.
constexpr std::uint64_t kQuantumInstructions = 50'000;
constexpr std::uint64_t kShuffledQuantum = 1'000;  // shorter, for more interleavings
constexpr std::uint64_t kStayNs = 200'000;
constexpr unsigned kStayQuanta = 8;  // the same in quanta, for a repeatable order

WorkGroup::Progress run_group(WorkGroup& group, std::uint64_t quantum_instructions) {
    const DeviceAccess here;
    return group.run(quantum_instructions);
}
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

DispatchWork::DispatchWork(std::shared_ptr<AqlQueue> queue, std::shared_ptr<Dispatch> dispatch, GroupPool& pool,
                           std::uint64_t index, std::size_t max_resident_groups)
    : queue_{std::move(queue)},
      dispatch_{std::move(dispatch)},
      pool_{pool},
      index_{index},
      start_ticks_{clock::now()},
      max_resident_groups_{max_resident_groups},
      random_{dispatch_->order().random(~std::uint64_t{0})} {
    counters.dispatches += 1;
}

Work::Result DispatchWork::run() {
    const Eviction::Turn turn{queue_->eviction()};
    if (!turn) abort();  // the remaining work-groups do not run
    const std::uint64_t until = clock::now_ns() + kStayNs;
    bool did = false;
    unsigned quanta = 0;
    do {
        auto group = take();
        if (!group) break;
        did = true;
        switch (run_group(*group, shuffled() ? kShuffledQuantum : kQuantumInstructions)) {
            case WorkGroup::Progress::Ended:
            case WorkGroup::Progress::Stopped:
                pool_.give_back(std::move(group));
                break;
            case WorkGroup::Progress::Paused:
                put_aside(std::move(group));
                break;
            case WorkGroup::Progress::Idle:
                put_aside(std::move(group));
                return Result::some;  // it waits for an external event: serve the queues first
        }
    } while (stay(++quanta, until) && !queue_->eviction().evicted());

    if (dispatch_->state() == Dispatch::State::Running || !dispatch_->claim_end())
        return did ? Result::some : Result::idle;
    queue_->finished(*this);
    std::lock_guard lock{mutex_};
    gone_ = true;
    gone_changed_.notify_all();
    return Result::done;
}

/// Whether quanta are short, for more interleavings.
bool DispatchWork::shuffled() const { return dispatch_->order().given() || shows(Behaviour::seeded_order); }

bool DispatchWork::stay(unsigned quanta, std::uint64_t until_ns) const {
    if (shows(Behaviour::seeded_order)) return false;  // another kernel may run next
    return dispatch_->order().given() ? quanta < kStayQuanta : clock::now_ns() < until_ns;
}

/// The group to run next, or nullptr if all remaining groups run on other workers.
std::unique_ptr<WorkGroup> DispatchWork::take() {
    std::lock_guard lock{mutex_};
    const bool shuffled = dispatch_->order().given();
    if ((shuffled ? random_.below(2) == 0 || aside_.empty() : turns_ >= aside_.size()) &&
        aside_.size() < max_resident_groups_) {
        auto group = pool_.take();
        if (dispatch_->start_group(*group) == Dispatch::Start::Started) {
            turns_ = 0;
            return group;
        }
        pool_.give_back(std::move(group));
    }
    if (aside_.empty()) return nullptr;
    if (shuffled) std::swap(aside_.front(), aside_[random_.below(aside_.size())]);
    auto group = std::move(aside_.front());
    aside_.pop_front();
    ++turns_;
    return group;
}

void DispatchWork::put_aside(std::unique_ptr<WorkGroup> group) {
    std::lock_guard lock{mutex_};
    aside_.push_back(std::move(group));
}

void DispatchWork::wait_until_gone() {
    std::unique_lock lock{mutex_};
    gone_changed_.wait(lock, [&] { return gone_; });
}

}  // namespace kfdemu
