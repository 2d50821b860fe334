// A sample encoding of an MFMA row; one with every modifier 0 if it is the first.
//
//     made.push_back(matrix_sample(row, target, random, made.empty()));
//
// Thread safety: pure function of the generator that it gets.
#pragma once

#include "tests/kfdemu/isa/llvm_mc.hpp"
#include "tests/kfdemu/isa/random.hpp"

namespace test_isa {

Words matrix_sample(const kfdemu::isa::Row& row, kfdemu::isa::Target target, Random& random, bool first);

}  // namespace test_isa
