// Internal: what operations in flight keep alive, in the order of their completion.
//
//   holds.push(point, object);
//   while (!holds.empty() && reached(holds.front().when)) batch.take(holds);
//
// A ring that grows and never shrinks, so that a stream in its steady state allocates nothing.
// Thread safety: none; the stream's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "hsadrv/signal_pool.hpp"

namespace hsadrv::detail {

/// The moment when an operation is complete: when the copy's signal is zero, or when so many packets are
/// complete.
struct Point {
    std::uint64_t epochs = 0;
    std::shared_ptr<PooledSignal> copy = {};
};

struct Hold {
    Point when;
    std::shared_ptr<const void> object;
};

class HoldList {
  public:
    bool empty() const noexcept { return size_ == 0; }
    const Hold& front() const noexcept { return ring_[first_]; }

    /// Makes room for `count` more, so that pushing them cannot fail.
    void make_room(std::size_t count) {
        while (ring_.size() - size_ < count) grow();
    }

    void push(Point when, std::shared_ptr<const void> object) {
        make_room(1);
        ring_[(first_ + size_) % ring_.size()] = {std::move(when), std::move(object)};
        ++size_;
    }

    Hold pop() noexcept {
        Hold hold = std::exchange(ring_[first_], {});
        first_ = (first_ + 1) % ring_.size();
        --size_;
        return hold;
    }

  private:
    void grow() {
        std::vector<Hold> larger(ring_.empty() ? 64 : 2 * ring_.size());
        for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(ring_[(first_ + i) % ring_.size()]);
        ring_ = std::move(larger);
        first_ = 0;
    }

    std::vector<Hold> ring_;
    std::size_t first_ = 0, size_ = 0;
};

/// Holds taken off a list, destroyed after the lock was given back: an object's destructor may use the
/// stream.
struct RetiredHolds {
    static constexpr std::size_t most = 16;
    Hold holds[most];
    std::size_t count = 0;

    template <class Reached>
    void take(HoldList& list, Reached&& reached) {
        while (count < most && !list.empty() && reached(list.front().when)) holds[count++] = list.pop();
    }
};

}  // namespace hsadrv::detail
