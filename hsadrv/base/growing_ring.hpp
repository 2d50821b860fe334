// Internal: a ring buffer that grows and never shrinks, so that it does not allocate in a steady state.
//
//   ring.push_back(item);
//   while (!ring.empty() && done(ring.front())) ring.pop_front();
//
// Thread safety: none; guarded by its owner's lock.
#pragma once

#include "shared/cpp20.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace hsadrv::detail {

template <class T>
class GrowingRing {
  public:
    GrowingRing() noexcept = default;
    GrowingRing(GrowingRing&& other) noexcept { swap(other); }
    GrowingRing& operator=(GrowingRing&& other) noexcept {
        GrowingRing(std::move(other)).swap(*this);
        return *this;
    }
    void swap(GrowingRing& other) noexcept {
        ring_.swap(other.ring_);
        std::swap(capacity_, other.capacity_);
        std::swap(first_, other.first_);
        std::swap(size_, other.size_);
    }

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }
    T& front() noexcept { return ring_[first_]; }
    const T& front() const noexcept { return ring_[first_]; }
    /// The i-th from the front.
    const T& operator[](std::size_t i) const noexcept { return ring_[place(i)]; }
    T& operator[](std::size_t i) noexcept { return ring_[place(i)]; }

    /// Makes room for `count` more items, so that pushing them cannot fail.
    void make_room(std::size_t count) {
        while (capacity_ - size_ < count) [[unlikely]]
            grow();
    }

    void push_back(T&& item) {
        make_room(1);
        ring_[place(size_)] = std::move(item);
        ++size_;
    }
    /// Appends a default item and returns it.
    T& push_back() {
        make_room(1);
        return ring_[place(size_++)];
    }

    /// Pops the front item in place. The caller must reset the returned item to its default.
    T& drop_front() noexcept {
        T& item = ring_[first_];
        first_ = place(1);
        --size_;
        return item;
    }
    T pop_front() noexcept { return std::exchange(drop_front(), {}); }
    T pop_back() noexcept { return std::exchange(ring_[place(--size_)], {}); }

  private:
    // capacity_ is a power of two.
    std::size_t place(std::size_t i) const noexcept { return (first_ + i) & (capacity_ - 1); }

    [[gnu::noinline]] void grow() {
        const std::size_t larger = capacity_ == 0 ? 64 : 2 * capacity_;
        auto ring = std::make_unique<T[]>(larger);
        for (std::size_t i = 0; i < size_; ++i) ring[i] = std::move((*this)[i]);
        ring_ = std::move(ring);
        capacity_ = larger;
        first_ = 0;
    }

    std::unique_ptr<T[]> ring_;
    std::size_t capacity_ = 0, first_ = 0, size_ = 0;
};

}  // namespace hsadrv::detail
