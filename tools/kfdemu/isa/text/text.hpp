// Text of operands, and of immediates with special syntax, for the disassembler.
//
//     operand_text(kVgpr0 + 4, Type::b64, 0) == "v[4:5]"
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "tools/kfdemu/isa/encodings/inst.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::isa {

/// printf into a string, for numbers.
[[gnu::format(printf, 1, 2)]] std::string format_text(const char* format, ...);

struct RegisterNames {
    bool narrow;      ///< masks of lanes are one SGPR
    bool only_sgprs;  ///< SGPRs 102-105 have no other names
};
/// A register, constant or literal, as an operand of the given type.
std::string operand_text(Operand operand, Type type, std::uint32_t literal, RegisterNames names);

/// SIMM16 of s_waitcnt, s_sendmsg, s_getreg, s_set_gpr_idx_mode.
std::string special_text(Target target, Type syntax, std::uint32_t simm16);
std::string gpr_index_text(std::uint32_t what);
std::string buffer_format_text(std::uint32_t format);
std::string unified_format_text(Target target, std::uint32_t format);
std::string swizzle_text(std::uint32_t offset);

}  // namespace kfdemu::isa
