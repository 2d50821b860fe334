// Values of uninitialized memory and registers, derived from a seed.
//
//     garbage.fill(lds, size_bytes, place);     // the same seed and place: the same bytes
//
// Thread safety: any thread; immutable.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kfdemu {

class Garbage {
  public:
    explicit Garbage(std::uint64_t seed);

    /// `place`: any number that distinguishes this piece from others.
    void fill(void* to, std::size_t size_bytes, std::uint64_t place) const;
    std::uint32_t word(std::uint64_t place) const;

  private:
    static constexpr std::size_t kWords = 8192;  // copied from, so that filling is as fast as clearing
    std::array<std::uint64_t, kWords> words_;
};

/// The process-wide instance; null: zeros. Acquire and release: created before the device, never destroyed.
inline std::atomic<const Garbage*> garbage{nullptr};

}  // namespace kfdemu
