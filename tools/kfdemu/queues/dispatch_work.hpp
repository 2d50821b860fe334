// Time-slices the work-groups of one dispatch over the scheduler's workers.
//
//     auto kernel = std::make_shared<DispatchWork>(queue, dispatch, index, max_resident_groups);
//     scheduler.add(kernel, kernel->groups());
//
// A work-group that has used its quantum is put aside and another one runs, which may be a new one. Work-groups that
// wait for each other therefore make progress, as on hardware, where many are resident.
//
// Thread safety: run() from any number of workers; abort() and wait_until_gone() from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/kfdemu/base/work.hpp"
#include "tools/kfdemu/dispatch/dispatch.hpp"

namespace kfdemu {

class AqlQueue;

/// Recycles WorkGroup objects, which take megabytes each.
class GroupPool {
  public:
    std::unique_ptr<WorkGroup> take();
    void give_back(std::unique_ptr<WorkGroup> group);

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<WorkGroup>> free_;
};

class DispatchWork final : public Work {
  public:
    /// Keeps alive: queue, dispatch. Borrows: pool, until destroyed. `index`: the packet's index in its queue.
    DispatchWork(std::shared_ptr<AqlQueue> queue, std::shared_ptr<Dispatch> dispatch, GroupPool& pool,
                 std::uint64_t index, std::size_t max_resident_groups);

    Result run() override;
    /// Starts no further work-groups, and stops the running ones.
    void abort() { dispatch_->abort(); }
    /// Returns when no worker uses this kernel any more.
    void wait_until_gone();

    const Dispatch& dispatch() const { return *dispatch_; }
    std::uint64_t groups() const { return dispatch_->group_count(); }
    std::uint64_t index() const { return index_; }
    std::uint64_t start_ticks() const { return start_ticks_; }

  private:
    bool shuffled() const;
    bool stay(unsigned quanta, std::uint64_t until_ns) const;
    enum class Ran { nothing, some, until_idle };
    Ran run_groups();
    std::unique_ptr<WorkGroup> take(std::unique_ptr<WorkGroup>& free, Dispatch::Batch& batch);
    std::unique_ptr<WorkGroup> start(std::unique_ptr<WorkGroup>& free, Dispatch::Batch& batch);
    void give_back(std::unique_ptr<WorkGroup> group);
    void put_aside(std::unique_ptr<WorkGroup> group);

    const std::shared_ptr<AqlQueue> queue_;
    const std::shared_ptr<Dispatch> dispatch_;
    GroupPool& pool_;
    const std::uint64_t index_, start_ticks_;
    const std::size_t max_resident_groups_;

    std::mutex mutex_;
    std::condition_variable gone_changed_;
    std::deque<std::unique_ptr<WorkGroup>> aside_;
    std::atomic<std::size_t> aside_count_{0};  // its size
    Random random_;                            // selects the next work-group if an order is given
    std::size_t turns_ = 0;                    // turns of put-aside groups since the last new one
    bool gone_ = false;
};

}  // namespace kfdemu
