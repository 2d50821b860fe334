// Sample encodings of an instruction row: every form that its format has, with varied operands and modifiers.
//
//     for (const Words& words : samples(row, target)) ...
//
// Deterministic: the same row gives the same samples. Thread safety: pure function.
#pragma once

#include "tests/kfdemu/isa/llvm_mc.hpp"

namespace test_isa {

std::vector<Words> samples(const kfdemu::isa::Row& row, kfdemu::isa::Target target, unsigned width = 64);

}  // namespace test_isa
