// Sample encodings of an instruction row: every form that its format has, with varied operands and modifiers.
//
//     for (const Words& words : samples(row, target)) ...
//
// Deterministic: the same row gives the same samples. Thread safety: pure function.
#pragma once

#include "llvm_mc.hpp"

namespace test_gfx9 {

std::vector<Words> samples(const kfdemu::gfx9::Row& row, kfdemu::gfx9::Target target);

}  // namespace test_gfx9
