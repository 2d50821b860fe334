// One decoded instruction, as threaded by the run loop.
//
//     const Inst* next = inst->handler(wave, *inst);      // executes it; nullptr: see wave.stop
//
// A code page holds one Inst per dword of code, so the next one in program order is `&inst + inst.size` and a branch
// inside the page is a pointer. Thread safety: immutable once decoded. Lifetime: the code page's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kfdemu::jit {
struct Run;
}

namespace kfdemu::isa {

struct Wave;
struct Inst;

/// Executes one instruction and returns the next one; nullptr leaves the run loop with wave.stop and wave.pc set.
using Handler = const Inst* (*)(Wave&, const Inst&);

/// The formats of GFX9 to GFX12 ("Vega" to "RDNA 4" ISA manuals, chapter "Microcode Formats"), named as GFX9 does.
/// Unknown: the bits match none.
enum class Format : std::uint8_t {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    Vop3p,
    Vopd,
    Vintrp,
    Ds,
    Flat,
    Mubuf,
    Mtbuf,
    Mimg,
    Exp,
    Ldsdir,
    Unknown,
};

/// Of the vector ALU.
constexpr bool is_vector(Format format) {
    return format == Format::Vop1 || format == Format::Vop2 || format == Format::Vopc || format == Format::Vop3 ||
           format == Format::Vop3p || format == Format::Vopd;
}
constexpr bool is_vector_memory(Format format) {
    return format == Format::Ds || format == Format::Flat || format == Format::Mubuf || format == Format::Mtbuf;
}

/// How a vector instruction encodes its sources.
enum class Form : std::uint8_t { Plain, Vop3, Sdwa, Dpp, Dpp8 };

/// In Inst::literal: FI of Form::Dpp and of Form::Dpp8.
inline constexpr std::uint32_t kFetchesInactive = 1u << 18, kFetchesInactive8 = 1;

/// The address space of a FLAT encoding (its SEG field).
enum class Segment : std::uint8_t { Flat, Scratch, Global };

/// An operand: below 256 an index into Wave::s (the ISA's operand encoding, inline constants included), from 256 a
/// VGPR, from 512 an AccVGPR.
using Operand = std::uint16_t;
inline constexpr Operand kVgpr0 = 256;
inline constexpr Operand kAcc0 = 512;
inline constexpr Operand kNoOperand = 0xffff;

/// Flags that handlers branch on.
enum InstFlags : std::uint16_t {
    kScalarSetup = 1,  ///< a source is a literal, VCCZ, EXECZ or SCC: refresh their slots in Wave::s first
    kPrepare = 2,      ///< sources have modifiers: neg, abs, op_sel, SDWA or DPP
    kFinish = 4,       ///< the result has modifiers: omod, clamp, SDWA destination select, op_sel of the destination
    kGlc = 8,          ///< GLC: atomics return the old value
    kSlc = 16,
    kNv = 32,
    kLds = 64,            ///< the LDS bit of FLAT and MUBUF; GDS of DS
    kOffen = 128,         ///< MUBUF
    kIdxen = 256,         ///< MUBUF
    kImm = 512,           ///< SMEM: `offset` is added (and src[1], if it is an operand)
    kBranch = 1024,       ///< `target_pc()` is its target
    kScc = 2048,          ///< gfx90a's SCC bit of FLAT and MUBUF
    kFlushHalves = 4096,  ///< the row has kFlushesHalves, and the target flushes
    kNegates = 8192,      ///< MFMA: BLGP negates A, B and C
    kWave32 = 16384,      ///< for waves of 32 lanes: a mask of lanes is one SGPR
    kInHalves = 32768,    ///< DS: lanes 0-31 and 32-63 exchange among themselves
    kDlc = kNv,           ///< of GFX10, in its place
};

/// Fields by format:
/// - SOP*, VOP*: dst, sdst (the carry or compare result of VOP2/VOPC/VOP3b), src[0..2]; offset = SIMM16, sign-extended.
/// - SMEM: dst = SDATA (source of stores), src[0] = SBASE, src[1] = SOFFSET or none, offset = 21 or 24 bits, signed.
/// - FLAT: dst = VDST, src[0] = ADDR, src[1] = DATA, src[2] = SADDR or kNoOperand, segment; offset as encoded for the
///   segment; sdst = FLAT_SCRATCH where it is a pair of SGPRs and may be read.
/// - MUBUF: dst = src[1] = VDATA, src[0] = VADDR, src[2] = SRSRC (four SGPRs), sdst = SOFFSET; offset = 12 bits,
///   unsigned; 23 of GFX12.
/// - MTBUF: likewise; literal = data format | number format << 4, as GFX9 numbers them.
/// - MFMA: abs = CBSZ, op_sel = ABID, neg = BLGP.
/// - VOPD: `row` and all fields are the first operation's; second_of() (dual.hpp) has the second's.
/// - DS: dst = VDST, src[0] = ADDR, src[1] = DATA0, src[2] = DATA1; offset = OFFSET0 | OFFSET1 << 8.
struct alignas(64) Inst {
    Handler handler;
    union {
        const Inst* target;  ///< of a branch inside the same page; else nullptr
        jit::Run* run;       ///< of the first instruction of translated code (jit/)
    };
    std::uint64_t pc;   ///< address of this instruction
    std::uint16_t row;  ///< index into rows()
    std::uint8_t size;  ///< in dwords
    Form form;
    std::uint32_t literal;  ///< literal constant; for Form::Sdwa, Dpp and Dpp8 the control dword
    Operand dst, sdst;
    Operand src[3];
    std::uint16_t flags;  ///< InstFlags
    std::int32_t offset;
    std::uint8_t neg, abs;   ///< one bit per source; for VOP3P `neg` is NEG (low half) and `abs` is NEG_HI
    std::uint8_t op_sel;     ///< one bit per source, bit 3 the destination
    std::uint8_t op_sel_hi;  ///< VOP3P, one bit per source
    std::uint8_t omod;       ///< 0 none, 1 times two, 2 times four, 3 half
    bool clamp;
    Format format;
    Segment segment;
    std::uint32_t dwords[2];  ///< as encoded

    std::uint64_t code() const { return dwords[0] | std::uint64_t{dwords[1]} << 32; }
    std::uint64_t next_pc() const { return pc + 4u * size; }
    std::uint64_t target_pc() const { return next_pc() + static_cast<std::uint64_t>(std::int64_t{offset} * 4); }
    /// V_MFMA_LD_SCALE_B32: the byte of source n that is a scale.
    unsigned scale_byte(unsigned n) const { return (op_sel >> n & 1u) | (op_sel_hi >> n & 1u) << 1; }
    bool moves_lanes() const { return form == Form::Dpp || form == Form::Dpp8; }
    /// Encoded in two dwords, to which DPP adds a third.
    bool in_vop3() const { return form == Form::Vop3 || (moves_lanes() && size == 3); }
    bool has(InstFlags flag) const { return (flags & flag) != 0; }
    /// SGPRs of a mask of lanes.
    unsigned mask_dwords() const { return has(kWave32) ? 1 : 2; }
};
static_assert(sizeof(Inst) == 64, "one cache line");

/// GFX12: how far an access to memory, or what invalidates or writes back, has to be coherent.
enum class Scope : std::uint8_t { compute_unit, shader_engine, agent, system };
inline Scope scope_of(const Inst& inst) {
    return static_cast<Scope>(inst.format == Format::Smem ? inst.dwords[0] >> 21 & 3 : inst.dwords[1] >> 18 & 3);
}

}  // namespace kfdemu::isa
