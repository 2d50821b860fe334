// Storage for kernel arguments, handed out and reclaimed in order: no allocation per launch.
//
//   std::byte* args = ring.try_reserve(72);      // 64-byte aligned; null: full
//   ring.commit(ticket);                         // belongs to the launch with this ticket
//   ring.reclaim(completed);                     // every launch up to this ticket is complete
//
// Pure: it works on any memory and knows neither devices nor time. Tickets rise by one from launch to launch.
// Owns: its records; borrows the storage. Thread safety: none; its stream's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hsadrv {

class KernargRing {
  public:
    /// A block starts on a cache line, which also satisfies every kernarg_segment_align up to 64.
    static constexpr std::size_t alignment_bytes = 64;

    KernargRing() noexcept = default;
    /// `capacity_bytes` is a multiple of 64; at most `max_launches` (a power of two) are outstanding at once.
    KernargRing(std::byte* storage, std::size_t capacity_bytes, std::uint32_t max_launches);

    std::size_t capacity_bytes() const noexcept { return capacity_; }

    /// Room for one launch's arguments, or null until earlier launches are reclaimed. Reserving again without
    /// commit gives the same room. Zero bytes give a valid address of no use. More than
    /// capacity_bytes() never has room.
    std::byte* try_reserve(std::size_t size_bytes) noexcept {
        if (last_ - first_ > mask_) return nullptr;
        const std::size_t rounded = (size_bytes + alignment_bytes - 1) & ~(alignment_bytes - 1);
        // The usual case: it fits before the end of the storage, and behind what is in use.
        if (place_ + rounded <= capacity_ && head_ + rounded - tail_ <= capacity_) [[likely]] {
            reserved_end_ = head_ + rounded;
            reserved_place_ = place_ + rounded;
            return storage_ + place_;
        }
        return reserve_from_the_front(rounded);
    }
    void commit(std::uint64_t ticket) noexcept {
        head_ = reserved_end_;
        place_ = reserved_place_;
        records_[last_++ & mask_] = {ticket, head_};
    }
    void reclaim(std::uint64_t completed) noexcept;

    /// Launches committed and not yet reclaimed.
    std::uint64_t outstanding() const noexcept { return last_ - first_; }

  private:
    std::byte* storage_ = nullptr;
    std::size_t capacity_ = 0;
    std::uint64_t mask_ = 0;
    std::byte* reserve_from_the_front(std::size_t rounded) noexcept;

    // Positions count bytes for ever; position % capacity_ is the place. head_ - tail_ is in use.
    std::uint64_t head_ = 0, tail_ = 0;
    std::uint64_t reserved_end_ = 0;
    std::size_t place_ = 0, reserved_place_ = 0;  // of head_ and reserved_end_
    struct Record {
        std::uint64_t ticket, end;
    };
    std::unique_ptr<Record[]> records_;
    std::uint64_t first_ = 0, last_ = 0;  // records in use: [first_, last_)
};

}  // namespace hsadrv
