// Pseudo-random numbers, the same for the same seed on every machine.
//
//     Random random{seed};
//     random.below(6) + 1
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

namespace random_programs {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_{seed} {}
    /// SplitMix64.
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    unsigned below(std::uint64_t limit) { return static_cast<unsigned>((next() >> 11) % limit); }
    bool one_in(unsigned n) { return below(n) == 0; }
    template <class T>
    const T& of(const std::vector<T>& things) {
        return things[below(things.size())];
    }

  private:
    std::uint64_t state_;
};

/// Numbers at the edges of every type, small ones, and noise.
inline std::uint64_t edge_or_noise(Random& random) {
    constexpr std::uint64_t edges[] = {0,
                                       1,
                                       2,
                                       0xff,
                                       0x80,
                                       0x7f,
                                       0xffff,
                                       0x8000,
                                       0x7fff,
                                       0xffffffff,
                                       0x80000000,
                                       0x7fffffff,
                                       ~std::uint64_t{0},
                                       std::uint64_t{1} << 63,
                                       ~std::uint64_t{0} >> 1,
                                       0x3f800000,
                                       0xbf800000,
                                       0x7f800000,
                                       0xff800000,
                                       0x00000001,
                                       0x007fffff,
                                       0x00800000,
                                       0x7f7fffff,
                                       0x4b800000,
                                       0x3c00,
                                       0x7c00,
                                       0x7bff,
                                       0x0400,
                                       0x3c003c00,
                                       0x7bff0001,
                                       0x3ff0000000000000,
                                       0x7ff0000000000000,
                                       0x0010000000000000,
                                       0x41dfffffffc00000,
                                       0x43e0000000000000,
                                       0x3fe00000};
    const std::uint64_t noise = random.next();
    switch (random.below(6)) {
        case 0:
            return edges[random.below(sizeof edges / sizeof *edges)];
        case 1:
            return noise % 65;
        case 2:
            return -(noise % 17);
        case 3:
            return std::uint64_t{1} << noise % 64;
        case 4:
            return 0x3f000000 + noise % 0x02000000;  // floats from 0.5 to 8
        default:
            return noise;
    }
}

}  // namespace random_programs
