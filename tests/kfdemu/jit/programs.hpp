// Random straight-line programs of the instructions that are translated, on few registers, so that they depend on each
// other.
//
//     Program program = random_program(Target::gfx90a, random, 20);
//
// Deterministic for a seed. Thread safety: no state.
#pragma once

#include <string>
#include <vector>

#include "gfx9/machine.hpp"
#include "gfx9/random.hpp"

namespace test_jit {

struct Program {
    std::vector<std::uint32_t> words;
    std::string text;  ///< the mnemonics
};

/// The first register that differs between a wave whose code is translated and one that is interpreted; empty: none.
std::string difference(test_gfx9::Machine& translated, test_gfx9::Machine& interpreted);

Program random_program(test_gfx9::Target target, test_gfx9::Random& random, unsigned instructions);

}  // namespace test_jit
