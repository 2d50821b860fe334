// Recognises device memory that nothing has written since it was allocated, by a pattern that depends on the address.
//
//     fill_fresh(host, va, bytes);                       // when it is allocated
//     FreshMemory fresh;
//     if (fresh.at(space, va)) …                            // the dword at va still holds its pattern
//
// Whoever writes it (kernels, DMA engines, the host, other processes) destroys the pattern, so writes need not be
// followed. A dword counts as fresh if one beside it is, too: other data has both by chance once in 2^44 dwords or
// less. Data of bytes may end within a dword, and its last bytes be the pattern's by chance: for them it has to be the
// dword before. Read as floats, the pattern is NaN.
//
// Thread safety: fill_fresh() any thread; FreshMemory that of its work-group, whose thread has a Hold of the space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tools/kfdemu/base/address_space.hpp"

namespace kfdemu::check {

/// The front and the end of large allocations: all of it would take as much host memory.
void fill_fresh(std::byte* host, std::uint64_t va, std::uint64_t bytes);

class FreshMemory {
  public:
    /// Whether the dword that holds the byte at `va` is fresh; `part`: it is read as bytes or a half.
    bool at(const AddressSpace& space, std::uint64_t va, bool part = false) {
        va &= ~std::uint64_t{3};
        // Nearly all memory is in the range used last, and holds something else.
        if (space_ == &space && generation_ == space.generation() && range_.contains(va, 4) && word(va) < kLeastPattern)
            return false;
        return is_fresh(space, va, part);
    }

  private:
    static constexpr std::uint32_t kLeastPattern = 0xff800001;
    std::uint32_t word(std::uint64_t va) const {
        std::uint32_t value = 0;
        std::memcpy(&value, range_.at(va), sizeof value);
        return value;
    }
    bool is_fresh(const AddressSpace& space, std::uint64_t va, bool part);
    bool holds_pattern(std::uint64_t va) const;

    AddressSpace::Range range_;  ///< used last, if it can be read safely; of this generation of the map
    const AddressSpace* space_ = nullptr;
    std::uint64_t generation_ = 0;
};

}  // namespace kfdemu::check
