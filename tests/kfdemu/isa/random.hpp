// Pseudo-random numbers, the same in every run.
//
//     Random random{seed};
//     random.below(6) + 1
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>

namespace test_isa {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_{seed} {}
    std::uint32_t below(std::uint32_t limit) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state_ >> 33) % limit;
    }
    bool one_in(std::uint32_t n) { return below(n) == 0; }
    std::uint32_t bits(unsigned width) { return below(1u << width); }
    std::uint32_t word() { return bits(16) << 16 | bits(16); }

  private:
    std::uint64_t state_;
};

}  // namespace test_isa
