#include "hsadrv/kernarg_ring.hpp"

namespace hsadrv {

KernargRing::KernargRing(std::byte* storage, std::size_t capacity_bytes, std::uint64_t tickets)
    : place_(storage),
      limit_(storage + capacity_bytes),
      ends_(std::make_unique<std::byte*[]>(tickets)),
      mask_(tickets - 1),
      begin_(storage),
      end_(storage + capacity_bytes) {
    ends_[0] = storage;
}

std::byte* KernargRing::make_room(std::size_t room_bytes, std::uint64_t completed, std::uint64_t last) noexcept {
    std::byte* const in_use = ends_[completed & mask_];  // in use from here, around the end, up to place_
    if (completed == last) {
        place_ = ends_[completed & mask_] = begin_;
        limit_ = end_;
    } else if (place_ < in_use) {
        limit_ = in_use - alignment_bytes;  // never up to there: a full ring would look like an empty one
    } else {
        limit_ = end_;
        // A block does not wrap: the remaining bytes before the end are skipped.
        if (!try_reserve(room_bytes) && room_bytes < static_cast<std::size_t>(in_use - begin_)) {
            place_ = begin_;
            limit_ = in_use - alignment_bytes;
        }
    }
    return try_reserve(room_bytes);
}

}  // namespace hsadrv
