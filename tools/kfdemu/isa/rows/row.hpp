// The instruction table: one row per instruction, from the *.inc files.
//
//     const Row& row = rows()[inst.row];     // row.name == "v_add_f32"
//     handlers[index(Op::v_add_f32)]
//
// A row of an .inc file is all that is known of one instruction:
//
//     FORMAT(opcodes, name, targets, operand types..., attributes, shape, flow, translation, meaning)
//
// Each reader takes the columns that it needs: the enum and the Row table below; the executors the meaning; check/init/
// how undefined bits flow from sources to results; jit/ the translation. No column has a default. rows.inc has every
// row in one shape. docs/internals/instruction.md follows one row through all of them. Thread safety: constant data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/kfdemu/isa/encodings/inst.hpp"

namespace kfdemu::isa {

enum class Target : std::uint8_t { gfx900, gfx906, gfx908, gfx90a, gfx942, gfx950, gfx1030, gfx1100, gfx1151, gfx1201 };
inline constexpr Target kTargets[] = {Target::gfx900,  Target::gfx906, Target::gfx908,  Target::gfx90a,
                                      Target::gfx942,  Target::gfx950, Target::gfx1030, Target::gfx1100,
                                      Target::gfx1151, Target::gfx1201};
const char* name(Target target);

/// Sets of targets, one bit each, named as in the rows. Those of several say which of GFX9 have the instruction; later
/// families have what has an opcode there.
namespace targets {
using Set = std::uint16_t;
inline constexpr Set gfx900 = 1, gfx906 = 2, gfx908 = 4, gfx90a = 8, gfx942 = 16, gfx950 = 32, gfx1030 = 64,
                     gfx1100 = 128, gfx1151 = 256, gfx1201 = 512;
inline constexpr Set rdna = gfx1030 | gfx1100 | gfx1151 | gfx1201;
inline constexpr Set all = 63 | rdna, from906 = 62 | rdna, from908 = 60 | rdna, from90a = 56 | rdna,
                     from942 = 48 | rdna, before90a = 7 | rdna, before942 = 15 | rdna, before950 = 31 | rdna;
inline constexpr Set from950 = gfx950 | rdna, from1151 = gfx1151 | gfx1201;
inline constexpr Set from908to90a = 12 | rdna, from908to942 = 28 | rdna;
}  // namespace targets
inline constexpr targets::Set bit(Target target) {
    return static_cast<targets::Set>(1u << static_cast<unsigned>(target));
}

/// Operand types: the number of dwords, and how literals and inline constants are read and printed.
enum class Type : std::uint8_t {
    none,
    b16,
    u16,
    i16,
    f8,    // low byte of a register
    f16,   // low half of a register
    bf16,  // likewise
    pk16,
    pkf16,   // two halves of a register
    pkbf16,  // likewise
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
    b192,
    b256,
    b512,
    b1024,
    mask,      // a lane mask: a pair of SGPRs, in waves of 32 lanes one
    tile,      // a matrix of 256 dwords: eight registers, in waves of 64 lanes four
    halftile,  // a matrix of 256 halves, likewise
    tile128,  // matrices of so many dwords, spread over all lanes; of 32 dwords in waves of 64 lanes: over half of them
    tile64,
    tile32,
    s32,  // an SGPR where others have a VGPR
    simm,
    uimm,
    hex,      // SIMM16: signed, unsigned, hexadecimal
    length,   // of a prefetch, in SDATA
    label,    // SIMM16: branch distance in dwords
    waitcnt,  // these have a syntax of their own
    delay,
    depctr,
    message,
    hwreg,
    gpr_index,
};

constexpr bool is_float(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}
constexpr bool is_half(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::b16 || type == Type::u16 || type == Type::i16;
}
unsigned dwords(Type type);
/// The registers of an operand, in waves of `width` lanes.
unsigned registers(Type type, unsigned width);

constexpr bool is_packed_float(Type type) { return type == Type::pkf16 || type == Type::pkbf16; }

/// What the types do not express.
enum RowAttributes : std::uint64_t {
    kCarryIn = 1ull << 0,          ///< reads VCC, or SRC2 as a mask in VOP3
    kCarryOut = 1ull << 1,         ///< writes VCC, or SDST in VOP3b
    kNoVop3 = 1ull << 2,           ///< VOP1/VOP2 without a VOP3 form
    kNoModifiers = 1ull << 3,      ///< neither SDWA nor DPP
    kMadk = 1ull << 4,             ///< D = A * B + K
    kMadmk = 1ull << 5,            ///< D = A * K + B
    kVop3b = 1ull << 6,            ///< VOP3-only with SDST
    kReadsDst = 1ull << 7,         ///< DST is also a source: v_mac, v_fmac, s_bitset1, s_cmpk
    kNoResult = 1ull << 8,         ///< DST is a source only
    kNoScratch = 1ull << 9,        ///< FLAT opcode that SCRATCH lacks
    kOnlyGlobal = 1ull << 10,      ///< FLAT opcode that only GLOBAL has
    kTwoOffsets = 1ull << 11,      ///< DS: separate OFFSET0 and OFFSET1
    kStride64 = 1ull << 12,        ///< DS: in units of 64 elements
    kAtomic = 1ull << 13,          ///< memory: returns the old value if GLC (FLAT, MUBUF, SMEM)
    kFloatAtomic = 1ull << 14,     ///< FLAT, MUBUF: returns nothing without Traits::returns_float_atomics
    kPair = 1ull << 15,            ///< memory: DATA is twice what is accessed: compare and swap
    kExchange = 1ull << 16,        ///< memory: stores DATA whatever was there, and returns it
    kStore = 1ull << 17,           ///< memory: DATA is read, nothing is returned
    kPermutes = 1ull << 18,        ///< DS, VOP3: moves between lanes, accesses nothing
    kPattern = 1ull << 19,         ///< DS: OFFSET is a pattern of lanes
    kByLane = 1ull << 20,          ///< DS: at M0, a dword for each lane
    kCountsLanes = 1ull << 21,     ///< DS: at M0, one counter for the wave
    kGws = 1ull << 22,             ///< DS with GDS set: operates on Gws, with DATA in the address field
    kNoSdwa = 1ull << 23,          ///< DPP but no SDWA
    kOpSel = 1ull << 24,           ///< VOP3 with OP_SEL; the other half of DST is kept
    kVccIn = 1ull << 25,           ///< reads VCC regardless of SRC2: v_div_fmas
    kMix = 1ull << 26,             ///< VOP3P whose OP_SEL_HI makes a source 16 bits wide
    kLowHalf = 1ull << 27,         ///< writes the low half of DST
    kHighHalf = 1ull << 28,        ///< writes the high half of DST
    kAccumulator = 1ull << 29,     ///< moves between VGPR and AccVGPR, or AccVGPRs
    kMatrix = 1ull << 30,          ///< VOP3P-MAI: C and D may be AccVGPRs, CBSZ, ABID and BLGP broadcast blocks
    kDot = 1ull << 31,             ///< a dot product
    kFlushesHalves = 1ull << 32,   ///< with Traits::flushes_factors, 16-bit denormals are treated as zero
    kNearest = 1ull << 33,         ///< rounds to nearest regardless of MODE
    kFlushesSingles = 1ull << 34,  ///< likewise, and 32-bit denormals are treated as zero, in sources and results
    kNamedShort = 1ull << 35,      ///< kNoVop3, and its mnemonic says that it is the short form
    kFirstLane = 1ull << 36,       ///< reads the first active lane of SRC0
    kNamedLane = 1ull << 37,       ///< reads or writes the lane that SRC1 names
    kSwaps = 1ull << 38,           ///< writes SRC0, too
    kCancels = 1ull << 39,         ///< of one register twice, the result is zero
    kReadsScc = 1ull << 40,
    kWritesScc = 1ull << 41,
    kReadsVcc = 1ull << 42,   ///< SOPP: a branch
    kReadsExec = 1ull << 43,  ///< the scalar unit; the vector unit always does
    kWritesExec = 1ull << 44,
    kReadsM0 = 1ull << 45,
    kWritesM0 = 1ull << 46,
    kMovesFrom = 1ull << 47,       ///< SRC0 is relative to M0
    kMovesTo = 1ull << 48,         ///< DST is relative to M0
    kByHalves = 1ull << 62,        ///< of kMovesFrom and kMovesTo: bits 9:0 of M0 are for SRC0, bits 25:16 for DST
    kJump = 1ull << 49,            ///< continues where its sources say
    kSteers = 1ull << 50,          ///< its source decides which instructions execute
    kIndexes = 1ull << 51,         ///< its source is the number of a register
    kTranscendental = 1ull << 56,  ///< executed by the transcendental unit
    kSparse = 1ull << 52,          ///< a product whose A has two of every four elements; SRC2 says which, DST is C
    kToLds = 1ull << 53,           ///< FLAT: loads to LDS
    kScoped = 1ull << 55,          ///< cache control with a scope: MUBUF's with Traits::scope_bits, in SC0 and SC1
    kInserts = 1ull << 54,         ///< VOP3 whose OP_SEL names the byte of DST that it writes; kReadsDst
    kExtracts = 1ull << 57,        ///< in VOP3, OP_SEL names the byte of SRC0 that it reads
    kTruthTable = 1ull << 58,      ///< VOP3 whose OMOD, ABS and NEG are a truth table: Inst::literal
    kMixedFormats = 1ull << 59,    ///< kMatrix: CBSZ and BLGP are the formats of A and B
    kVectorSource = 1ull << 61,    ///< VOP3 whose SRC0, and what is wider than two registers, are VGPRs
    kScales = 1ull << 60,          ///< the scales of A and B of the kMixedFormats that follows
    kSigned = 1ull << 63,          ///< VOP3P of integers: NEG says whether A and B are signed
};

/// Of memory instructions: what one lane accesses. `nothing`: no memory. `converted`: by a format. `dwords`: as many as
/// its registers have. `transposed`: likewise, as elements of so many bits, of which other lanes get some. Loads of
/// `_lo` and `_hi` write one half of a register and keep the other; stores of `_hi` read it.
enum class Element : std::uint8_t {
    nothing,
    dwords,
    u8,
    i8,
    u16,
    i16,
    converted,
    transposed_4,
    transposed_6,
    transposed_8,
    transposed_16,
    to_lds_b96,
    to_lds_b128,
    u8_lo,
    i8_lo,
    u16_lo,
    converted_lo,
    u8_hi,
    i8_hi,
    u16_hi,
    converted_hi,
};
constexpr bool is_high_half(Element e) { return e >= Element::u8_hi; }
constexpr bool is_half(Element e) { return e >= Element::u8_lo; }
constexpr bool is_converted(Element e) {
    return e == Element::converted || e == Element::converted_lo || e == Element::converted_hi;
}
constexpr bool is_signed(Element e) {
    return e == Element::i8 || e == Element::i16 || e == Element::i8_lo || e == Element::i8_hi;
}
/// 0: its registers say it.
constexpr unsigned narrow_bytes(Element e) {
    if (e == Element::to_lds_b96 || e == Element::to_lds_b128) return e == Element::to_lds_b96 ? 12 : 16;
    if (e == Element::u16 || e == Element::i16 || e == Element::u16_lo || e == Element::u16_hi) return 2;
    const bool one = e == Element::u8 || e == Element::i8 || e == Element::u8_lo || e == Element::i8_lo ||
                     e == Element::u8_hi || e == Element::i8_hi;
    return one ? 1 : 0;
}

/// Loads that transpose: of each 16 lanes, a matrix of 16 columns; its rows come one after the other from one lane or
/// several, and lane l gets column l. 0: none of them.
constexpr unsigned transposed_bits(Element e) {
    constexpr unsigned widths[] = {4, 6, 8, 16};
    const bool among = e >= Element::transposed_4 && e <= Element::transposed_16;
    return among ? widths[static_cast<unsigned>(e) - static_cast<unsigned>(Element::transposed_4)] : 0;
}
/// Where an element of a lane comes from. `count`: elements of a lane.
struct Transposed {
    unsigned from_lane, from_number;
};
constexpr Transposed transposed(unsigned count, unsigned lane, unsigned number) {
    constexpr unsigned columns = 16;
    const unsigned column = lane % columns;
    return {lane - column + column / count + number * (columns / count), column % count};
}

/// Of matrix instructions: blocks of rows x depth times depth x rows.
struct Matrix {
    enum class Of : std::uint8_t {
        Single,
        Half,
        Brain,
        Byte,
        Nibble,
        Double,
        Xf32,
        Bf8Bf8,
        Bf8Fp8,
        Fp8Bf8,
        Fp8Fp8,
        OcpBf8Bf8,
        OcpBf8Fp8,
        OcpFp8Bf8,
        OcpFp8Fp8,
        Formats
    };
    std::uint8_t rows = 0, depth = 0, blocks = 0;
    Of of{};
};
struct Shape {
    Element element = Element::nothing;
    Matrix matrix;
};

/// The opcode and the mnemonic of a row in a family of encodings.
struct Opcode {
    static constexpr std::uint16_t kNone = 0xffff;
    std::uint16_t number = kNone;
    const char* mnemonic = nullptr;  ///< null: the row's name
};
/// In each family. GFX940 is GFX9, but for the opcodes and mnemonics of some rows.
struct Opcodes {
    Opcode gfx9, gfx940, gfx10, gfx11, gfx12;

    /// Another row has the mnemonic as its name.
    constexpr Opcodes called(const char* other) const {
        return {{gfx9.number, other},
                {gfx940.number, other},
                {gfx10.number, other},
                {gfx11.number, other},
                {gfx12.number, other}};
    }
    constexpr Opcodes on_gfx940(unsigned number, const char* mnemonic) const {
        return {gfx9, {static_cast<std::uint16_t>(number), mnemonic}, gfx10, gfx11, gfx12};
    }
    constexpr Opcodes on_gfx940(const char* mnemonic) const { return on_gfx940(gfx940.number, mnemonic); }
    constexpr Opcodes in_gfx10(const char* mnemonic) const {
        return {gfx9, gfx940, {gfx10.number, mnemonic}, gfx11, gfx12};
    }
    /// In GFX11 and GFX12.
    constexpr Opcodes in_gfx11(const char* mnemonic) const {
        return {gfx9, gfx940, gfx10, {gfx11.number, mnemonic}, {gfx12.number, mnemonic}};
    }
    constexpr Opcodes in_gfx12(const char* mnemonic) const {
        return {gfx9, gfx940, gfx10, gfx11, {gfx12.number, mnemonic}};
    }
    /// In GFX10 and later.
    constexpr Opcodes in_rdna(const char* mnemonic) const { return in_gfx10(mnemonic).in_gfx11(mnemonic); }
};
/// In GFX9, GFX10, GFX11 and GFX12.
constexpr Opcodes op(unsigned gfx9, unsigned gfx10 = Opcode::kNone, unsigned gfx11 = Opcode::kNone,
                     unsigned gfx12 = Opcode::kNone) {
    const auto number = [](unsigned n) { return Opcode{static_cast<std::uint16_t>(n)}; };
    return {number(gfx9), number(gfx9), number(gfx10), number(gfx11), number(gfx12)};
}
constexpr unsigned sum(Opcode a, Opcode b) {
    return a.number == Opcode::kNone || b.number == Opcode::kNone ? Opcode::kNone : a.number + unsigned{b.number};
}
constexpr Opcodes operator+(Opcodes a, Opcodes b) {
    return op(sum(a.gfx9, b.gfx9), sum(a.gfx10, b.gfx10), sum(a.gfx11, b.gfx11), sum(a.gfx12, b.gfx12));
}

struct Row {
    const char* name;
    Opcodes opcodes;
    Format format;
    targets::Set targets;
    Type dst;
    Type src[3];
    std::uint64_t attributes;
    Shape shape;

    bool on(Target target) const;
    bool is(RowAttributes attribute) const { return (attributes & attribute) != 0; }
    /// A product of matrices of 16 rows (WMMA, SWMMAC), whatever EXEC is.
    bool multiplies_tiles() const { return shape.matrix.rows != 0 && !is(kMatrix); }
    /// A function of one scalar, by the vector unit.
    bool is_scalar_function() const { return dst == Type::s32 && is(kTranscendental); }
};

/// SWMMAC: of a lane's indices, four bits for every four elements, how many parts does a register have? OP_SEL says
/// which.
unsigned index_parts(const Row& row, unsigned width);
/// The groups of 16 lanes that hold A.
unsigned lane_groups_of_sparse(const Row& row, unsigned width);

/// Of source n. A matrix instruction may have a format in CBSZ or BLGP; Type::none: a reserved one.
Type source_type(const Row& row, const Inst& inst, unsigned n);

/// Row numbers, named by mnemonic.
enum class Op : std::uint16_t {
#define KFDEMU_ROW(format, opcodes, name, ...) name,
#include "tools/kfdemu/isa/rows/rows.inc"
#undef KFDEMU_ROW
    count
};
inline constexpr std::size_t kRowCount = static_cast<std::size_t>(Op::count);
constexpr std::size_t index(Op op) { return static_cast<std::size_t>(op); }

std::span<const Row> rows();

}  // namespace kfdemu::isa
