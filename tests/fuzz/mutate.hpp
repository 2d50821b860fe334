// Mutations of byte strings, the same in every run. Pure but for the generator's state.
#pragma once

#include "fuzz.hpp"

namespace fuzz {

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : state_{seed * 2 + 1} {}

    /// One of `seeds` with up to eight changes; now and then only noise.
    Bytes next(const std::vector<Bytes>& seeds);

  private:
    std::uint64_t random();
    std::size_t below(std::size_t limit) { return random() % limit; }
    void change(Bytes& bytes, const std::vector<Bytes>& seeds);
    void overwrite(Bytes& bytes);

    std::uint64_t state_;
};

}  // namespace fuzz
