// How each instruction derives its result from its sources, for undefined bits.
//
//     if (Meaning meaning = meaning_of(Op::v_and_b32)) result = meaning({a, b, {}, {}, lane});
//
// Pure. Source: "Vega" ISA manual, chapter "Instructions".
#pragma once

#include "../../isa/rows/row.hpp"
#include "undefined_bits.hpp"

namespace kfdemu::check {

/// The result of one lane or of a scalar; `carry` is the carry in, the condition, or SCC.
struct Operands {
    Bits a, b, c, carry;
    unsigned lane = 0;
};
using Meaning = Bits (*)(const Operands&);

/// How an instruction derives its result; null: every bit depends on all bits of all sources.
Meaning meaning_of(isa::Op op);
/// Whether results only rearrange bits of the sources. Copies of padding are harmless; what is computed from it is not.
bool only_moves(isa::Op op);

}  // namespace kfdemu::check
