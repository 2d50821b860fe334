// Random straight-line programs of the instructions that are translated, on few registers, so that they depend on each
// other.
//
//     Program program = random_program(Target::gfx90a, random, 20, 64);
//
// Deterministic for a seed. Thread safety: no state.
#pragma once

#include <string>
#include <vector>

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/random.hpp"

namespace test_jit {

struct Program {
    std::vector<std::uint32_t> words;
    std::string text;  ///< the mnemonics
};

/// The first register that differs between a wave whose code is translated and one that is interpreted; empty: none.
std::string difference(test_isa::Machine& translated, test_isa::Machine& interpreted);

/// For waves of `lanes` lanes.
Program random_program(test_isa::Target target, test_isa::Random& random, unsigned instructions, unsigned lanes);

}  // namespace test_jit
