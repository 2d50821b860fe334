// A repeatable order of work-groups and waves, derived from a seed.
//
//     Order order{seed, dispatch_number};
//     std::uint64_t group = order.permuted(index, total);
//     unsigned wave = order.random(group) …
//
// Pure except for the process-wide seed. Thread safety: any thread.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace kfdemu {

/// A stream of pseudorandom numbers (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
class Random {
  public:
    explicit Random(std::uint64_t seed = 0) : state_{seed} {}
    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  private:
    std::uint64_t state_;
};

class Order {
  public:
    /// Seed 0: no order is imposed.
    Order() = default;
    Order(std::uint64_t seed, std::uint64_t number)
        : key_{seed ? Random{seed ^ Random{number}.next()}.next() | 1 : 0} {}

    bool given() const { return key_ != 0; }
    /// A permutation of [0, total).
    std::uint64_t permuted(std::uint64_t index, std::uint64_t total) const {
        if (!given() || total < 2) return index;
        // A Feistel network over the next even number of bits; a result outside [0, total) goes through it again.
        const unsigned half = (static_cast<unsigned>(std::bit_width(total - 1)) + 1) / 2;
        const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
        do {
            std::uint64_t left = index >> half, right = index & mask;
            for (std::uint64_t round = 0; round < 4; ++round) {
                const std::uint64_t mixed = left ^ (Random{key_ + round * 0x632be59bd9b4e019 + right}.next() & mask);
                left = right;
                right = mixed;
            }
            index = left << half | right;
        } while (index >= total);
        return index;
    }
    /// The random stream for one part of the work.
    Random random(std::uint64_t part) const { return Random{key_ ^ Random{part}.next()}; }

  private:
    std::uint64_t key_ = 0;
};

/// The seed of dispatches created from now on; 0: none. Relaxed: it orders nothing.
inline std::atomic<std::uint64_t> order_seed{0};

}  // namespace kfdemu
