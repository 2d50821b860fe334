// The instruction table: one row per instruction, from the *.inc files.
//
//     const Row& row = rows()[inst.row];     // row.name == "v_add_f32"
//     handlers[index(Op::v_add_f32)]
//
// A row of an .inc file is FORMAT(opcode, name, targets, operand types..., meaning); each includer defines FORMAT for
// its own purpose: the enum below, the Row table, the executors. Thread safety: constant data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../encodings/inst.hpp"

namespace kfdemu::isa {

enum class Target : std::uint8_t { gfx900, gfx906, gfx908, gfx90a };
inline constexpr Target kTargets[] = {Target::gfx900, Target::gfx906, Target::gfx908, Target::gfx90a};
const char* name(Target target);

/// Sets of targets, one bit each, named as in the rows.
namespace targets {
inline constexpr std::uint8_t gfx900 = 1, gfx906 = 2, gfx908 = 4, gfx90a = 8;
inline constexpr std::uint8_t all = 15, from906 = 14, from908 = 12, before90a = 7;
}  // namespace targets
inline constexpr std::uint8_t bit(Target target) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(target));
}

/// Operand types: the number of dwords, and how literals and inline constants are read and printed.
enum class Type : std::uint8_t {
    none,
    b16,
    u16,
    i16,
    f16,  // low half of a register
    pk16,
    pkf16,  // two halves of a register
    b32,
    u32,
    i32,
    f32,
    b64,
    u64,
    i64,
    f64,
    pkf32,
    b96,
    b128,
    b160,
    b256,
    b512,
    b1024,
    mask,  // a lane mask: a pair of SGPRs
    s32,   // an SGPR where others have a VGPR
    simm,
    uimm,
    hex,      // SIMM16: signed, unsigned, hexadecimal
    label,    // SIMM16: branch distance in dwords
    special,  // has its own syntax: s_waitcnt, hwreg, sendmsg, gpr_idx, ...
};

constexpr bool is_float(Type type) { return type == Type::f16 || type == Type::f32 || type == Type::f64; }
constexpr bool is_half(Type type) {
    return type == Type::f16 || type == Type::b16 || type == Type::u16 || type == Type::i16;
}
unsigned dwords(Type type);

/// What the types do not express.
enum RowAttributes : std::uint32_t {
    kCarryIn = 1,               ///< reads VCC, or SRC2 as a mask in VOP3
    kCarryOut = 2,              ///< writes VCC, or SDST in VOP3b
    kNoVop3 = 4,                ///< VOP1/VOP2 without a VOP3 form
    kNoModifiers = 8,           ///< neither SDWA nor DPP
    kMadk = 16,                 ///< D = A * B + K
    kMadmk = 32,                ///< D = A * K + B
    kVop3b = 64,                ///< VOP3-only with SDST
    kReadsDst = 128,            ///< DST is also a source: v_mac, v_fmac
    kNoScratch = 256,           ///< FLAT opcode that SCRATCH lacks
    kOnlyGlobal = 512,          ///< FLAT opcode that only GLOBAL has
    kTwoOffsets = 1024,         ///< DS: separate OFFSET0 and OFFSET1
    kAtomic = 2048,             ///< memory: returns the old value if GLC (FLAT, MUBUF, SMEM)
    kStore = 4096,              ///< memory: DATA is read, nothing is returned
    kNoSdwa = 8192,             ///< DPP but no SDWA
    kOpSel = 16384,             ///< VOP3 with OP_SEL; the other half of DST is kept
    kVccIn = 32768,             ///< reads VCC regardless of SRC2: v_div_fmas
    kMix = 65536,               ///< VOP3P whose OP_SEL_HI makes a source 16 bits wide
    kGws = 262144,              ///< DS with GDS set: operates on Gws, with DATA in the address field
    kAccumulator = 131072,      ///< VOP3P that moves between VGPR and AccVGPR
    kMatrix = 524288,           ///< VOP3P-MAI: C and D may be AccVGPRs, CBSZ, ABID and BLGP broadcast blocks
    kFlushesHalves = 1048576,   ///< on gfx90a, 16-bit denormals are treated as zero: dot products and MFMA
    kNearest = 2097152,         ///< rounds to nearest regardless of MODE
    kFlushesSingles = 4194304,  ///< likewise, and 32-bit denormals are treated as zero, in sources and results
};

struct Row {
    const char* name;
    std::uint16_t opcode;
    Format format;
    std::uint8_t targets;
    Type dst;
    Type src[3];
    std::uint32_t attributes;

    bool on(Target target) const { return (targets & bit(target)) != 0; }
    bool is(RowAttributes attribute) const { return (attributes & attribute) != 0; }
};

/// Row numbers, named by mnemonic.
enum class Op : std::uint16_t {
#define KFDEMU_ROW(format, opcode, name, targets, dst, a, b, c, attributes) name,
#include "rows.inc"
#undef KFDEMU_ROW
    count
};
inline constexpr std::size_t kRowCount = static_cast<std::size_t>(Op::count);
constexpr std::size_t index(Op op) { return static_cast<std::size_t>(op); }

std::span<const Row> rows();

}  // namespace kfdemu::isa
