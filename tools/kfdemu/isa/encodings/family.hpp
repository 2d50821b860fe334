// A family of encodings: where its instructions have their fields. One folder each, and a column of opcodes in the
// rows.
//
//     const Family& family = family_of(Target::gfx90a);
//     const Encoding encoding = family.encoding_of(words);
//
// Thread safety: constant data.
#pragma once

#include <cstdint>
#include <span>

#include "tools/kfdemu/isa/encodings/inst.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu::isa {

/// The format and opcode number that are encoded, known or not.
struct Encoding {
    Format format;
    unsigned opcode;
};

struct BitFields;

struct Family {
    Encoding (*encoding_of)(std::span<const std::uint32_t> words);
    /// Of SMEM, FLAT, MUBUF, MTBUF and DS. False for reserved encodings.
    bool (*decode_memory)(const BitFields&);
    Opcode Opcodes::* opcode;
    unsigned vop1_in_vop3, vop2_in_vop3, vopc_in_vop3;  ///< VOP3 opcodes of the short encodings begin here
};
extern const Family kGfx9, kGfx940;  // gfx9/
extern const Family kGfx10;          // gfx10/
extern const Family kGfx11;          // gfx11/
extern const Family kGfx12;          // gfx12/

const Family& family_of(Target target);
unsigned opcode_of(const Row& row, Target target);
const char* mnemonic_of(const Row& row, Target target);

}  // namespace kfdemu::isa
