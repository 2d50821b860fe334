// What memory and registers hold that nobody has written yet, decided by a seed.
//
//     garbage.fill(lds, size_bytes, place);     // the same seed and place: the same bytes
//
// Thread safety: any thread; a Garbage does not change.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kfdemu {

class Garbage {
  public:
    explicit Garbage(std::uint64_t seed);

    /// `place`: any number that tells this piece from others.
    void fill(void* to, std::size_t size_bytes, std::uint64_t place) const;
    std::uint32_t word(std::uint64_t place) const;

  private:
    static constexpr std::size_t kWords = 8192;  // copied out of, so that filling costs what clearing does
    std::array<std::uint64_t, kWords> words_;
};

/// This process's; null: zeros. Acquire and release: made before there is a device, and never destroyed.
inline std::atomic<const Garbage*> garbage{nullptr};

}  // namespace kfdemu
