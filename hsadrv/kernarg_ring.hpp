// Storage for kernel arguments, handed out and reclaimed in order: no allocation per launch.
//
//   const std::size_t room = KernargRing::room_bytes(72);
//   std::byte* args = ring.try_reserve(room);           // 256-byte aligned; null: no room that is known to be free
//   ring.commit(ticket, room);                          // belongs to the launch with this ticket
//   args = ring.make_room(room, completed, last);       // null: not before more tickets are complete
//
// Pure: it works on any memory and knows neither devices nor time. Tickets rise by one; one that has no arguments is
// noted, too. Owns: its records; borrows the storage. Thread safety: none; its stream's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hsadrv {

class KernargRing {
  public:
    /// The largest kernarg_segment_align that compilers emit (clang 19, for an over-aligned argument).
    static constexpr std::size_t alignment_bytes = 256;

    KernargRing() noexcept = default;
    /// `storage` and `capacity_bytes` are multiples of alignment_bytes; fewer than `tickets` (a power of two) are
    /// outstanding at once.
    KernargRing(std::byte* storage, std::size_t capacity_bytes, std::uint64_t tickets);

    std::size_t capacity_bytes() const noexcept { return static_cast<std::size_t>(end_ - begin_); }

    /// What arguments of that size take of the storage.
    static constexpr std::size_t room_bytes(std::size_t kernarg_bytes) noexcept {
        return (kernarg_bytes + alignment_bytes - 1) & ~(alignment_bytes - 1);
    }

    // `room_bytes` are multiples of alignment_bytes.

    /// Room for one launch's arguments, or null: ask make_room(). Reserving again without commit gives the same
    /// room. Zero bytes give an address of no use.
    std::byte* try_reserve(std::size_t room_bytes) const noexcept { return has_room(room_bytes) ? place_ : nullptr; }
    bool has_room(std::size_t room_bytes) const noexcept {
        return room_bytes <= static_cast<std::size_t>(limit_ - place_);
    }
    std::byte* place() const noexcept { return place_; }
    /// The same when every ticket up to `completed` is complete, of those up to `last`; null for more than
    /// capacity_bytes() and while others use too much of it.
    std::byte* make_room(std::size_t room_bytes, std::uint64_t completed, std::uint64_t last) noexcept;

    void commit(std::uint64_t ticket, std::size_t room_bytes) noexcept {
        place_ += room_bytes;
        note(ticket);
    }
    void note(std::uint64_t ticket) noexcept { ends_[ticket & mask_] = place_; }

  private:
    std::byte* place_ = nullptr;          // the next block's
    std::byte* limit_ = nullptr;          // what lies between is free
    std::unique_ptr<std::byte*[]> ends_;  // where the blocks up to a ticket end
    std::uint64_t mask_ = 0;
    std::byte *begin_ = nullptr, *end_ = nullptr;
};

}  // namespace hsadrv
