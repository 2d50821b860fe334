// VOPD: two operations in one instruction, each of which reads its sources before either writes ("RDNA 3" ISA manual,
// "Dual Issue VALU").
//
//     const Inst second = second_of(dual);     // the first is the instruction itself
//
// Rows of the format VOPD are operations: their opcodes are those of both places. Thread safety: pure functions.
#pragma once

#include "tools/kfdemu/isa/encodings/fields.hpp"

namespace kfdemu::isa {

/// Sets the operands that an operation's encoding implies: VCC, or the literal of v_dual_fmaak_f32 and
/// v_dual_fmamk_f32.
inline void imply_operands(Inst& operation, const Row& row) {
    operation.src[2] = row.is(kCarryIn) ? Operand{kVcc} : kNoOperand;
    if (row.src[1] == Type::none) operation.src[1] = kNoOperand;
    if (row.is(kMadk)) operation.src[2] = kLiteral;
    if (row.is(kMadmk)) {
        operation.src[2] = operation.src[1];
        operation.src[1] = kLiteral;
    }
}

/// The first operation's Inst keeps what the second has of its own: the row in `sdst`, and in `offset` source 0, the
/// number of source 1 and that of the destination.
inline void keep_second(Inst& dual, std::uint16_t row, Operand source, unsigned vgpr, unsigned destination) {
    dual.sdst = row;
    dual.offset = static_cast<std::int32_t>(source | vgpr << 16 | destination << 24);
}

inline Inst second_of(const Inst& dual) {
    const std::uint32_t kept = static_cast<std::uint32_t>(dual.offset);
    Inst second = dual;
    second.row = dual.sdst;
    second.src[0] = static_cast<Operand>(kept & 0xffff);
    second.src[1] = static_cast<Operand>(kVgpr0 + (kept >> 16 & 0xff));
    second.dst = static_cast<Operand>(kVgpr0 + (kept >> 24));
    imply_operands(second, rows()[second.row]);
    return second;
}

/// False for reserved encodings.
bool decode_dual(const BitFields& f);

}  // namespace kfdemu::isa
