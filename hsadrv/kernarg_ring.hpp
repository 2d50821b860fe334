// KernargRing: a ring buffer for kernel arguments, reserved and reclaimed in order, without an allocation per launch.
//
//   const std::size_t room = KernargRing::room_bytes(72);
//   std::byte* args = ring.try_reserve(room);           // 256-byte aligned; null: no room known to be free
//   ring.commit(ticket, room);                          // used by the launch with this ticket
//   args = ring.make_room(room, completed, last);       // null: more tickets must complete first
//
// Pure: works on any memory, without a device or a clock. Tickets rise by one; call note() for a ticket without
// arguments. Owns: its records. Borrows: the storage. Thread safety: none; guarded by its stream's lock.
#pragma once

#include "shared/cpp20.hpp"

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

    /// The storage that arguments of that size need.
    static constexpr std::size_t room_bytes(std::size_t kernarg_bytes) noexcept {
        return (kernarg_bytes + alignment_bytes - 1) & ~(alignment_bytes - 1);
    }

    // `room_bytes` must be a multiple of alignment_bytes.

    /// Room for one launch's arguments; if null, call make_room(). Reserving again without commit() returns the same
    /// room. For zero bytes, the returned address must not be used.
    std::byte* try_reserve(std::size_t room_bytes) const noexcept { return has_room(room_bytes) ? place_ : nullptr; }
    bool has_room(std::size_t room_bytes) const noexcept {
        return room_bytes <= static_cast<std::size_t>(limit_ - place_);
    }
    std::byte* place() const noexcept { return place_; }
    /// Like try_reserve(), but first reclaims the storage of tickets up to `completed`. `last` is the newest ticket.
    /// Null for more than capacity_bytes(), or while outstanding tickets use too much of it.
    std::byte* make_room(std::size_t room_bytes, std::uint64_t completed, std::uint64_t last) noexcept;

    void commit(std::uint64_t ticket, std::size_t room_bytes) noexcept {
        place_ += room_bytes;
        note(ticket);
    }
    void note(std::uint64_t ticket) noexcept { ends_[ticket & mask_] = place_; }

  private:
    std::byte* place_ = nullptr;          // of the next block
    std::byte* limit_ = nullptr;          // [place_, limit_) is free
    std::unique_ptr<std::byte*[]> ends_;  // where the blocks up to a ticket end
    std::uint64_t mask_ = 0;
    std::byte *begin_ = nullptr, *end_ = nullptr;
};

}  // namespace hsadrv
