// Internal: what a stream keeps alive: until a completion, or for its whole life.
//
//   holds.push(tail, object);                      // with the stream's mutex
//   holds.defer(object);                      // without: another thread has it, perhaps for long
//   holds.retire(batch, is_over);
//
// Invariant: an object held before the last submission is released only when that is complete. Thread safety: the
// stream's mutex guards it, except defer() and attach(), which any thread may call.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/stream/hold_list.hpp"

namespace hsadrv::detail {

class StreamHolds {
  public:
    void make_room(std::size_t count) { list_.make_room(count); }
    void push(Completion when, std::shared_ptr<const void> object) { list_.push(std::move(when), std::move(object)); }

    /// The stream takes it when it is next used (take_deferred).
    void defer(std::shared_ptr<const void>&& object);
    /// For the life of the stream and its packets. Repeated calls have no effect.
    void attach(std::shared_ptr<const void> object);

    /// Passes each deferred object to `keep`. Work submitted meanwhile is waited for as well: the release may be late,
    /// never early.
    template <class Keep>
    void take_deferred(Keep&& keep) {
        if (!has_deferred_.load(std::memory_order_acquire)) [[likely]]
            return;
        const std::lock_guard lock(mutex_);
        for (; !deferred_.empty(); deferred_.pop_back()) keep(deferred_.back());
        has_deferred_.store(false, std::memory_order_release);
    }
    template <class IsOver>
    void retire(RetiredHolds& batch, IsOver&& is_over) {
        batch.take(list_, is_over);
    }
    /// Moves expired holds to `done`. Returns true if more will expire later.
    template <class IsOver>
    bool retire_all(std::vector<std::shared_ptr<const void>>& done, IsOver&& is_over) {
        while (!list_.empty() && is_over(list_.front().when)) {
            done.reserve(done.size() + 1);
            done.push_back(list_.pop().object);
        }
        return !list_.empty();
    }

    /// Everything, for packets that outlive the stream.
    struct Kept {
        std::vector<std::shared_ptr<const void>> attached, late;  // destroyed last
        HoldList list;
    };
    Kept take_all() noexcept;

  private:
    Ranked<std::mutex, LockRank::leaf> mutex_;  // guards the next two
    std::vector<std::shared_ptr<const void>> attached_, deferred_;
    std::atomic<bool> has_deferred_{false};
    HoldList list_;
};

}  // namespace hsadrv::detail
