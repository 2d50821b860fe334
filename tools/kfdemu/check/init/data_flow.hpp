// How each instruction derives its result from its sources, for undefined bits: the flow column of its row.
//
//     const RowFlow& flow = flow_of(Op::v_and_b32);
//     if (flow.result != nullptr) result = flow.result({a, b, {}, {}, lane});
//
// Pure. Source: "Vega" ISA manual, chapter "Instructions".
#pragma once

#include "tools/kfdemu/check/init/undefined_bits.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::check {

/// The sources of one lane or of a scalar; `carry` is the carry in, the condition, or SCC. `c` is the old value of what
/// is an operand and the destination, too; of SOPK, the register is `a` and the immediate `b`.
struct Operands {
    Bits a, b, c, carry;
    unsigned lane = 0;
    std::uint32_t table = 0;  ///< of kTruthTable

    bool any() const { return a.any() || b.any() || c.any(); }
};

struct RowFlow {
    /// Null: every bit depends on all bits of all sources.
    Bits (*result)(const Operands&) = nullptr;
    /// Whether a comparison, SCC, or the carry is undefined, given the result; null: if any source is.
    bool (*is_undefined)(const Operands&, Bits result) = nullptr;
    /// The result only rearranges bits of the sources. Copies of padding are harmless; what is computed from it is not.
    bool moves = false;
    /// The result is EXEC, of source 0 and the old EXEC.
    bool to_exec = false;
    /// In place of `result` under CLAMP.
    Bits (*clamped)(const Operands&) = nullptr;

    constexpr RowFlow condition(bool (*rule)(const Operands&, Bits result)) const {
        return {result, rule, moves, to_exec};
    }
};

const RowFlow& flow_of(isa::Op op);

}  // namespace kfdemu::check
