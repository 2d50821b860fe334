// Internal: a first-in-first-out list that grows and never shrinks, so that whoever uses it in a steady state
// allocates nothing.
//
//   ring.push_back(item);
//   while (!ring.empty() && done(ring.front())) ring.pop_front();
//
// Thread safety: none; its owner's lock guards it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hsadrv::detail {

template <class T>
class GrowingRing {
  public:
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }
    T& front() noexcept { return ring_[first_]; }
    const T& front() const noexcept { return ring_[first_]; }
    /// The i-th from the front.
    const T& operator[](std::size_t i) const noexcept { return ring_[place(i)]; }
    T& operator[](std::size_t i) noexcept { return ring_[place(i)]; }

    /// Makes room for `count` more, so that pushing them cannot fail.
    void make_room(std::size_t count) {
        while (ring_.size() - size_ < count) [[unlikely]]
            grow();
    }

    void push_back(T&& item) {
        make_room(1);
        ring_[place(size_)] = std::move(item);
        ++size_;
    }

    T pop_front() noexcept {
        T item = std::exchange(ring_[first_], {});
        first_ = place(1);
        --size_;
        return item;
    }

  private:
    // The size is a power of two.
    std::size_t place(std::size_t i) const noexcept { return (first_ + i) & (ring_.size() - 1); }

    [[gnu::noinline]] void grow() {
        std::vector<T> larger(ring_.empty() ? 64 : 2 * ring_.size());
        for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
        ring_ = std::move(larger);
        first_ = 0;
    }

    std::vector<T> ring_;
    std::size_t first_ = 0, size_ = 0;
};

}  // namespace hsadrv::detail
