#include "tools/kfdemu/queues/dispatch_work.hpp"

#include <utility>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/queues/aql_queue.hpp"
#include "tools/kfdemu/resources/device_access.hpp"

namespace kfdemu {
namespace {
// Instructions that a work-group runs before the next one; time that a worker stays with a kernel before it serves the
// queues again.
constexpr std::uint64_t kQuantumInstructions = 50'000;
constexpr std::uint64_t kShuffledQuantum = 1'000;  // shorter, for more interleavings
constexpr std::uint64_t kStayNs = 200'000;
constexpr unsigned kStayQuanta = 8;  // the same in quanta, for a repeatable order

WorkGroup::Progress run_group(WorkGroup& group, std::uint64_t quantum_instructions, AddressSpace::Hold& hold) {
    const DeviceAccess here;
    return group.run(quantum_instructions, hold);
}

// The group that this worker gave back last: its memory is in this processor's caches. Owned, by a plain pointer:
// workers never end, and a destructor is registered under the dynamic linker's lock, which a constructor of a library
// may hold that waits for a kernel.
constinit thread_local WorkGroup* last_used = nullptr;
}  // namespace

std::unique_ptr<WorkGroup> GroupPool::take() {
    if (last_used) return std::unique_ptr<WorkGroup>{std::exchange(last_used, nullptr)};
    std::lock_guard lock{mutex_};
    if (free_.empty()) return std::make_unique<WorkGroup>();
    auto group = std::move(free_.back());
    free_.pop_back();
    return group;
}

void GroupPool::give_back(std::unique_ptr<WorkGroup> group) {
    std::unique_ptr<WorkGroup> before{std::exchange(last_used, group.release())};
    if (!before) return;
    std::lock_guard lock{mutex_};
    free_.push_back(std::move(before));
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
    const Ran ran = run_groups();
    if (ran == Ran::until_idle) return Result::some;  // a group waits for an external event: serve the queues first
    const bool did = ran != Ran::nothing;
    if (dispatch_->state() == Dispatch::State::Running || !dispatch_->claim_end())
        return did ? Result::some : Result::idle;
    queue_->finished(*this);
    std::lock_guard lock{mutex_};
    gone_ = true;
    gone_changed_.notify_all();
    return Result::done;
}

DispatchWork::Ran DispatchWork::run_groups() {
    const std::uint64_t until = clock::now_ns() + kStayNs;
    AddressSpace::Hold hold{dispatch_->memory()};
    Ran ran = Ran::nothing;
    unsigned quanta = 0;
    std::unique_ptr<WorkGroup> free;  // ended groups of this dispatch, not reported
    Dispatch::Batch batch{*dispatch_};
    do {
        auto group = take(free, batch);
        if (!group) break;
        if (ran == Ran::nothing) ran = Ran::some;
        const auto progress = run_group(*group, shuffled() ? kShuffledQuantum : kQuantumInstructions, hold);
        if (progress == WorkGroup::Progress::Ended || progress == WorkGroup::Progress::Stopped) {
            give_back(std::exchange(free, std::move(group)));
            continue;
        }
        batch.give_back();  // it may wait for one of them
        group->report();
        put_aside(std::move(group));
        if (progress == WorkGroup::Progress::Idle) ran = Ran::until_idle;
    } while (ran != Ran::until_idle && stay(++quanta, until) && !queue_->eviction().evicted());
    give_back(std::move(free));
    return ran;
}

void DispatchWork::give_back(std::unique_ptr<WorkGroup> group) {
    if (!group) return;
    group->report();
    pool_.give_back(std::move(group));
}

/// Whether quanta are short, for more interleavings.
bool DispatchWork::shuffled() const { return dispatch_->order().given() || shows(Behaviour::seeded_order); }

bool DispatchWork::stay(unsigned quanta, std::uint64_t until_ns) const {
    if (shows(Behaviour::seeded_order)) return false;  // another kernel may run next
    return dispatch_->order().given() ? quanta < kStayQuanta : clock::now_ns() < until_ns;
}

/// The group to run next, or nullptr if all remaining groups run on other workers. A new one is begun in `free`, or in
/// one of the pool.
std::unique_ptr<WorkGroup> DispatchWork::take(std::unique_ptr<WorkGroup>& free, Dispatch::Batch& batch) {
    const bool shuffled = dispatch_->order().given();
    // Relaxed: a hint. Without an order and without groups put aside, workers need not agree on anything.
    if (!shuffled && aside_count_.load(std::memory_order_relaxed) == 0)
        if (auto group = start(free, batch)) return group;
    std::lock_guard lock{mutex_};
    if ((shuffled ? random_.below(2) == 0 || aside_.empty() : turns_ >= aside_.size()) &&
        (aside_.size() < max_resident_groups_ || dispatch_->has_returned()))
        if (auto group = start(free, batch)) {
            turns_ = 0;
            return group;
        }
    if (aside_.empty()) return nullptr;
    if (shuffled) std::swap(aside_.front(), aside_[random_.below(aside_.size())]);
    auto group = std::move(aside_.front());
    aside_.pop_front();
    aside_count_.store(aside_.size(), std::memory_order_relaxed);
    ++turns_;
    return group;
}

/// A new group, or nullptr if none can start.
std::unique_ptr<WorkGroup> DispatchWork::start(std::unique_ptr<WorkGroup>& free, Dispatch::Batch& batch) {
    if (!free) free = pool_.take();
    free->report_later();
    if (dispatch_->start_group(*free, batch) == Dispatch::Start::Started) return std::move(free);
    return nullptr;
}

void DispatchWork::put_aside(std::unique_ptr<WorkGroup> group) {
    std::lock_guard lock{mutex_};
    aside_.push_back(std::move(group));
    aside_count_.store(aside_.size(), std::memory_order_relaxed);
}

void DispatchWork::wait_until_gone() {
    std::unique_lock lock{mutex_};
    gone_changed_.wait(lock, [&] { return gone_; });
}

}  // namespace kfdemu
