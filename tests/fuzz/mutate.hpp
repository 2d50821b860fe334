// Mutations of byte strings, reproducible. Pure except for the generator's state.
#pragma once

#include "tests/fuzz/fuzz.hpp"

namespace fuzz {

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : state_{seed * 2 + 1} {}

    /// One of `seeds` with up to eight changes; sometimes only random bytes.
    Bytes next(const std::vector<Bytes>& seeds);

  private:
    std::uint64_t random();
    std::size_t below(std::size_t limit) { return random() % limit; }
    void change(Bytes& bytes, const std::vector<Bytes>& seeds);
    void overwrite(Bytes& bytes);

    std::uint64_t state_;
};

}  // namespace fuzz
