#include "hsadrv/kernarg_ring.hpp"

namespace hsadrv {

KernargRing::KernargRing(std::byte* storage, std::size_t capacity_bytes, std::uint32_t max_launches)
    : storage_(storage),
      capacity_(capacity_bytes),
      mask_(max_launches - 1),
      records_(std::make_unique<Record[]>(max_launches)) {}

std::byte* KernargRing::reserve_from_the_front(std::size_t rounded) noexcept {
    if (rounded > capacity_) return nullptr;
    std::uint64_t begin = head_;
    // A block does not wrap: what is left before the end is skipped, and is part of the launch's room.
    if (const std::size_t left = capacity_ - place_; left < rounded) begin += left;
    if (begin + rounded - tail_ > capacity_) {
        // Nothing in use: start over, so that a block as large as the ring always fits.
        if (head_ != tail_) return nullptr;
        head_ = tail_ = begin = (head_ / capacity_ + 1) * capacity_;
    }
    reserved_end_ = begin + rounded;
    reserved_place_ = begin % capacity_ + rounded;
    return storage_ + begin % capacity_;
}

void KernargRing::reclaim(std::uint64_t completed) noexcept {
    while (first_ != last_ && records_[first_ & mask_].ticket <= completed)
        tail_ = records_[first_++ & mask_].end;
}

}  // namespace hsadrv
