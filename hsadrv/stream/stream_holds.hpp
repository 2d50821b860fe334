// Internal: what a stream keeps alive: until a completion, or for its whole life.
//
//   holds.make_room(1);
//   holds.push(tail, object);
//   holds.retire(retired, is_over);      // destroyed with `retired`, when the mutex is given back
//
// Invariant: an object held before the last submission is released only when that is complete. Thread safety: none; the
// stream's mutex guards it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "hsadrv/base/growing_ring.hpp"
#include "hsadrv/signal/callback_thread.hpp"
#include "hsadrv/stream/completion.hpp"

namespace hsadrv::detail {

struct Hold {
    Completion when;
    std::shared_ptr<const void> object;
};

/// Destroys them on a thread of which no work waits: a destructor may wait for host functions, and those wait for the
/// thread that runs them. Leaks them if there is no memory for that.
void destroy_elsewhere(std::vector<std::shared_ptr<const void>> objects) noexcept;

/// While it lives, the thread's RetiredHolds are kept, and destroyed at its end: in an operation of several calls,
/// which host functions wait for, a destructor must not wait for a host function; nor may it end the stream before
/// them. The outermost counts.
class LateHolds {
  public:
    LateHolds() noexcept : outer_(current) {
        if (outer_ == nullptr) current = this;
    }
    LateHolds(const LateHolds&) = delete;
    LateHolds& operator=(const LateHolds&) = delete;
    ~LateHolds() {
        if (outer_ != nullptr) return;
        current = nullptr;  // before the objects are destroyed
        if (!objects_.empty() && on_callback_thread()) destroy_elsewhere(std::move(objects_));
    }

  private:
    friend struct RetiredHolds;
    static inline thread_local LateHolds* current = nullptr;

    LateHolds* const outer_;
    std::vector<std::shared_ptr<const void>> objects_;
};

/// Holds taken off a list, destroyed after the mutex is given back: an object's destructor may use the stream.
/// Allocates nothing, but for LateHolds.
struct RetiredHolds {
    static constexpr std::size_t most = 16;
    std::size_t count = 0;

    RetiredHolds() noexcept {}  // NOLINT: the holds are constructed on demand
    RetiredHolds(const RetiredHolds&) = delete;
    RetiredHolds& operator=(const RetiredHolds&) = delete;
    ~RetiredHolds() {
        if (count > 0 && (LateHolds::current != nullptr || on_callback_thread())) [[unlikely]]
            keep();
        for (std::size_t i = 0; i < count; ++i) std::destroy_at(&holds_[i]);
    }
    void take(Hold&& hold) noexcept { std::construct_at(&holds_[count++], std::move(hold)); }

  private:
    void keep() noexcept {
        std::vector<std::shared_ptr<const void>> elsewhere;
        auto& objects = LateHolds::current != nullptr ? LateHolds::current->objects_ : elsewhere;
        try {
            objects.reserve(objects.size() + count);
        } catch (const std::bad_alloc&) {
            return;
        }
        for (std::size_t i = 0; i < count; ++i) objects.push_back(std::move(holds_[i].object));
        if (!elsewhere.empty()) destroy_elsewhere(std::move(elsewhere));
    }

    union {
        Hold holds_[most];
    };
};

class StreamHolds {
  public:
    void make_room(std::size_t count) { list_.make_room(count); }
    void push(Completion when, std::shared_ptr<const void> object) {
        list_.push_back({std::move(when), std::move(object)});
    }
    /// For the life of the stream and its packets. Repeated calls have no effect.
    void attach(std::shared_ptr<const void> object) {
        if (std::find(attached_.begin(), attached_.end(), object) == attached_.end())
            attached_.push_back(std::move(object));
    }

    template <class IsOver>
    void retire(RetiredHolds& batch, IsOver&& is_over) {
        while (batch.count < RetiredHolds::most && !list_.empty() && is_over(list_.front().when))
            batch.take(list_.pop_front());
    }
    /// Moves expired holds to `done`. Returns true if more will expire later.
    template <class IsOver>
    bool retire_all(std::vector<std::shared_ptr<const void>>& done, IsOver&& is_over) {
        while (!list_.empty() && is_over(list_.front().when)) {
            done.reserve(done.size() + 1);
            done.push_back(list_.pop_front().object);
        }
        return !list_.empty();
    }

  private:
    std::vector<std::shared_ptr<const void>> attached_;  // destroyed last
    GrowingRing<Hold> list_;
};

}  // namespace hsadrv::detail
