// Which values of a part of the lanes are in which CPU vectors, while a stretch is translated. The
// caller numbers the values.
//
//     const int at = registers.find(value);                // -1: in memory
//     const int room = registers.free_vector();            // -1: none
//     const unsigned out = registers.victim(next_use);     // then, the vector to give up
//
// The victim is the value whose next use is the furthest (Belady). Pure. Thread safety: none.

#include <array>
#include <cstdint>
#include <vector>

namespace kfdemu::jit {

class Registers {
  public:
    static constexpr unsigned kMostVectors = 32;

    Registers(unsigned values, unsigned vectors) : vectors_(vectors), vector_of_(values, -1) { value_of_.fill(-1); }

    int find(unsigned value) const { return vector_of_[value]; }
    int holder(unsigned vector) const { return value_of_[vector]; }
    void put(unsigned value, int vector) {
        drop(value);
        vector_of_[value] = vector;
        value_of_[static_cast<unsigned>(vector)] = static_cast<int>(value);
    }
    void drop(unsigned value) {
        if (vector_of_[value] >= 0) value_of_[static_cast<unsigned>(vector_of_[value])] = -1;
        vector_of_[value] = -1;
    }
    /// Not to be a victim until released.
    void pin(int vector) { pinned_ |= 1u << vector; }
    void release_pins() { pinned_ = 0; }

    /// A free vector, or -1.
    int free_vector() const {
        for (unsigned n = 0; n < vectors_; ++n)
            if (value_of_[n] < 0 && !(pinned_ >> n & 1)) return static_cast<int>(n);
        return -1;
    }
    /// The vector to evict. `next_use(value)`: larger is later.
    template <class NextUse>
    unsigned victim(NextUse&& next_use) const {
        unsigned best = 0;
        std::size_t furthest = 0;
        bool any = false;
        for (unsigned n = 0; n < vectors_; ++n) {
            if ((pinned_ >> n & 1) != 0 || value_of_[n] < 0) continue;
            const std::size_t use = next_use(static_cast<unsigned>(value_of_[n]));
            if (any && use <= furthest) continue;
            best = n;
            furthest = use;
            any = true;
        }
        return best;
    }

  private:
    unsigned vectors_;
    std::vector<int> vector_of_;
    std::array<int, kMostVectors> value_of_;
    std::uint32_t pinned_ = 0;
};

}  // namespace kfdemu::jit
