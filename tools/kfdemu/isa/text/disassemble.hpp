// The disassembler; its text matches llvm-objdump's.
//
//     disassemble(Target::gfx90a, inst) == "v_add_f32_e32 v4, v6, v2"
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tools/kfdemu/isa/encodings/inst.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::isa {

std::string disassemble(Target target, const Inst& inst);

/// The text of an illegal-instruction error: `VOP3P opcode 64 (d3c00004 04120506) is not implemented on gfx90a`.
std::string describe_illegal(Target target, const Inst& inst);

}  // namespace kfdemu::isa
