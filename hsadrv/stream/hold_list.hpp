// Internal: the objects that operations in flight keep alive, in the order of completion.
//
//   holds.push(completion, object);
//   while (!holds.empty() && reached(holds.front().when)) batch.take(holds);
//
// Thread safety: none; the stream's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "hsadrv/base/growing_ring.hpp"
#include "hsadrv/stream/completion.hpp"

namespace hsadrv::detail {

struct Hold {
    Completion when;
    std::shared_ptr<const void> object;
};

class HoldList {
  public:
    bool empty() const noexcept { return ring_.empty(); }
    const Hold& front() const noexcept { return ring_.front(); }
    void make_room(std::size_t count) { ring_.make_room(count); }
    void push(Completion when, std::shared_ptr<const void> object) {
        ring_.push_back({std::move(when), std::move(object)});
    }
    Hold pop() noexcept { return ring_.pop_front(); }

  private:
    GrowingRing<Hold> ring_;
};

/// Holds taken off a list, destroyed after the lock is released: an object's destructor may use the stream.
struct RetiredHolds {
    static constexpr std::size_t most = 16;
    std::size_t count = 0;

    RetiredHolds() noexcept {}  // NOLINT: the holds are constructed on demand
    RetiredHolds(const RetiredHolds&) = delete;
    RetiredHolds& operator=(const RetiredHolds&) = delete;
    ~RetiredHolds() {
        for (std::size_t i = 0; i < count; ++i) std::destroy_at(&holds_[i]);
    }

    template <class Reached>
    void take(HoldList& list, Reached&& reached) {
        while (count < most && !list.empty() && reached(list.front().when))
            std::construct_at(&holds_[count++], list.pop());
    }

  private:
    union {
        Hold holds_[most];
    };
};

}  // namespace hsadrv::detail
