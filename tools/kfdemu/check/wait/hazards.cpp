// Sources: the "Vega" ISA manual, "Manually Inserted Wait States (NOPs)", table "Required User-Inserted Wait States",
// whose two instructions are a rule's name. For matrix instructions and dot products, the numbers that LLVM inserts
// (lib/Target/AMDGPU/GCNHazardRecognizer.cpp; passes: SISchedule.td), with its functions' and constants' names. As
// there, an operand depends on the last matrix instruction that wrote its registers, since they finish in order, and an
// instruction in between gives one state, however long it takes.
//
// Where LLVM inserts more than a rule says, the rule counts: on gfx908, it takes the passes of the longest matrix
// instruction on its way back instead of those of the one that wrote, and has a v_accvgpr_write wait for another one.
// Two matrix instructions that write the same registers need nothing.
#include "tools/kfdemu/check/wait/hazards.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/check/wait/row_kinds.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;
using namespace row_kinds;

constexpr Operand kVccz = 251, kExecz = 252;  // as sources

bool writes(const RegisterUses& uses, Operand first, unsigned count) {
    return std::any_of(uses.begin(), uses.end(), [&](const RegisterUse& use) {
        return use.writes && use.first < first + count && first < use.first + use.count;
    });
}
bool writes(const Inst& inst, Operand first, unsigned count) { return writes(register_uses(inst), first, count); }

bool always(const Inst&, const Inst&) { return true; }
bool overlap(Operand a, unsigned a_count, Operand b, unsigned b_count) { return a < b + b_count && b < a + a_count; }
/// The SGPRs that a vector instruction writes: a mask, or one.
RegisterUse written_scalars(const Inst& inst) {
    const bool one = rows()[inst.row].dst == Type::s32;
    return {one ? inst.dst : inst.sdst, static_cast<std::uint8_t>(one ? 1 : inst.mask_dwords())};
}
bool of_its_scalar(const Inst& earlier, const Inst& later) {
    const RegisterUse written = written_scalars(earlier);
    const auto reads = [&](Operand first, unsigned count) {
        return overlap(first, count, written.first, written.count);
    };
    if (later.format != Format::Flat) return reads(later.src[2], 4) || reads(later.sdst, 1);
    const bool scratch = later.segment == Segment::Scratch;
    return reads(later.src[2], scratch ? 1 : 2) || (later.sdst != kNoOperand && reads(later.sdst, 2));
}
bool of_its_flags(const Inst& earlier, const Inst& later) {
    return std::any_of(std::begin(later.src), std::end(later.src),
                       [](Operand o) { return o == kVccz || o == kExecz; }) &&
           (compares_to_exec(rows()[earlier.row]) || writes(earlier, kVcc, 2));
}
bool of_its_vcc(const Inst& earlier, const Inst&) { return writes(earlier, kVcc, 2); }
bool of_its_lane(const Inst& earlier, const Inst& later) {
    return later.src[1] < kConstants && writes(earlier, later.src[1], 1);
}
bool of_its_vector(const Inst& earlier, const Inst& later) { return writes(earlier, later.src[0], 1); }
bool of_its_result(const Inst& earlier, const Inst& later) {
    const RegisterUses all = register_uses(later);
    const unsigned count = dwords(rows()[earlier.row].dst);
    return std::any_of(all.begin(), all.end(), [&](const RegisterUse& use) {
        return !use.writes && overlap(use.first, use.count, earlier.dst, count);
    });
}
/// Of a register's halves, the one that was written.
bool of_its_half(const Inst& earlier, const Inst& later) {
    if (!is_half(rows()[earlier.row].dst) || later.format == Format::Vopd) return of_its_result(earlier, later);
    const Row& row = rows()[later.row];
    const auto is_it = [&](Type type, unsigned n) {
        return !is_half(type) || (later.op_sel >> n & 1) == (earlier.op_sel >> 3 & 1);
    };
    for (unsigned n = 0; n < 3; ++n)
        if (const Type type = source_type(row, later, n);
            overlap(later.src[n], dwords(type), earlier.dst, 1) && is_it(type, n))
            return true;
    return row.is(kReadsDst) && overlap(later.dst, dwords(row.dst), earlier.dst, 1) && is_it(row.dst, 3);
}
/// A result of which an SDWA or OP_SEL moved the bits, or may have. OP_SEL names a half, or one of four bytes.
bool of_its_part(const Inst& earlier, const Inst& later) {
    const Row& row = rows()[earlier.row];
    const unsigned moved_by = row.is(kInserts) ? 12 : 8;
    const bool moved = earlier.form == Form::Sdwa ? row.format != Format::Vopc && (earlier.literal >> 8 & 7) != 6
                                                  : row.format != Format::Vop3p && (earlier.op_sel & moved_by) != 0;
    return moved && of_its_result(earlier, later);
}
/// As data. LLVM lets a mask wait, too: a carry, a choice. AMD's own kernels do not (the runtime's copies, rocBLAS').
bool of_its_value(const Inst& earlier, const Inst& later) {
    const Row& row = rows()[later.row];
    const RegisterUse written = written_scalars(earlier);
    for (unsigned n = 0; n < (row.is(kCarryIn) ? 2u : 3u); ++n)
        if (later.src[n] < kConstants && overlap(later.src[n], dwords(row.src[n]), written.first, written.count))
            return true;
    return false;
}
bool of_same_register(const Inst& earlier, const Inst& later) { return ((earlier.offset ^ later.offset) & 63) == 0; }
bool of_its_m0(const Inst& earlier, const Inst& later) {
    const Row& row = rows()[later.row];
    const bool memory = row.format == Format::Ds || is_vector_memory(row);
    const bool by_thread = is_op(row, Op::ds_write_addtid_b32) || is_op(row, Op::ds_read_addtid_b32);
    return (!memory || by_thread || later.has(kLds)) && writes(earlier, kM0, 1);
}
bool of_its_data(const Inst& earlier, const Inst& later) {
    const bool offset_in_register = earlier.format != Format::Flat && earlier.sdst < kConstants;
    return !offset_in_register && writes(later, earlier.src[1], dwords(rows()[earlier.row].src[1]));
}

bool of_swapped(const Inst& earlier, const Inst& later) {
    return writes(earlier, later.dst, 1) || writes(earlier, later.src[0], 1);
}

bool of_its_sources(const Inst& earlier, const Inst& later) {
    const Row& row = rows()[later.row];
    for (unsigned n = 0; n < 3; ++n)
        if (const unsigned count = dwords(source_type(row, later, n));
            later.src[n] >= kVgpr0 && count != 0 && writes(earlier, later.src[n], count))
            return true;
    return false;
}
/// A, B and, of a sparse product, the numbers of A's columns: C may be the D of the product before.
bool of_its_factors(const Inst& earlier, const Inst& later) {
    const Row& row = rows()[later.row];
    const unsigned lanes = later.has(kWave32) ? 32 : 64;
    for (unsigned n = 0; n < (row.is(kSparse) ? 3u : 2u); ++n)
        if (writes(earlier, later.src[n], registers(row.src[n], lanes))) return true;
    return false;
}
/// A dot product forwards its result only to the addend of the same one.
bool of_its_dot(const Inst& earlier, const Inst& later) {
    const auto uses = [&](const RegisterUse& use) { return overlap(use.first, use.count, earlier.dst, 1); };
    if (earlier.row != later.row) {
        const RegisterUses all = register_uses(later);
        return std::any_of(all.begin(), all.end(), uses);
    }
    return later.src[0] == earlier.dst || later.src[1] == earlier.dst;
}

constexpr HazardRule kVega[] = {
    {"VALU writes SGPR; VMEM reads that SGPR", 5, writes_scalar, is_vector_memory, of_its_scalar},
    {"VALU writes EXEC; VALU DPP op", 5, compares_to_exec, is_valu, always, HazardRule::Dpp},
    {"VALU sets VCC, EXEC; VALU uses EXECZ, VCCZ", 5, writes_scalar, is_valu, of_its_flags, HazardRule::ScalarSetup},
    {"VALU writes VCC; V_DIV_FMAS", 4, writes_scalar, scales_quotient, of_its_vcc},
    {"VALU writes SGPR/VCC; V_{READ,WRITE}LANE lane select", 4, writes_scalar, selects_lane, of_its_lane},
    {"VALU writes VGPR; VALU DPP reads that VGPR", 2, is_valu, is_valu, of_its_vector, HazardRule::Dpp},
    {"S_SETREG; S_GETREG, S_SETREG same reg", 2, sets_register, uses_register, of_same_register},
    {"SALU writes M0; S_SENDMSG, S_MOVEREL, LDS add-TID, LDS=1", 1, is_salu, may_use_m0, of_its_m0},
};
constexpr HazardRule stored_data(unsigned states) {
    return {"*_STORE_X3, *_STORE_X4, …; Write VGPRs holding writedata", states, stores_late, is_valu, of_its_data};
}
constexpr HazardRule kGfx900[] = {stored_data(1)};

/// Wait states by the size of the result.
constexpr auto by_size(unsigned by4, unsigned by16, unsigned by32, unsigned doubles4 = 0, unsigned doubles16 = 0,
                       unsigned to = 0, unsigned from = 0) {
    const auto byte = [](unsigned states) { return static_cast<std::uint8_t>(states); };
    return decltype(MatrixRule::states){byte(by4),      byte(by16),      byte(by16), byte(by32),
                                        byte(by32),     byte(by4),       byte(by16), byte(by32),
                                        byte(doubles4), byte(doubles16), byte(to),   byte(from)};
}
/// Wait states by the passes of the instruction: so many more, for those of XDL and of F32, or none.
constexpr unsigned kNone = ~0u;
template <bool late>
constexpr auto by_passes(unsigned xdl, unsigned singles, unsigned doubles4 = 0, unsigned doubles16 = 0) {
    const auto after = [](unsigned passes, unsigned more) {
        return static_cast<std::uint8_t>(more == kNone ? 0 : passes + more);
    };
    const unsigned long_xdl = xdl + unsigned{late};
    return decltype(MatrixRule::states){after(2, xdl),      after(8, long_xdl), after(4, long_xdl), after(16, long_xdl),
                                        after(8, long_xdl), after(2, singles),  after(8, singles),  after(16, singles),
                                        after(doubles4, 0), after(doubles16, 0)};
}

constexpr HazardRule kGfx908[] = {
    stored_data(1),
    {"checkMAIHazards908: VALUWritesExec", 4, compares_to_exec, to_accumulator, always},
    {"checkMAIHazards908: LegacyVALUWritesVGPR", 2, to_vgpr, to_accumulator, of_its_sources},
};
constexpr MatrixRule kMatrixGfx908[] = {
    // After 4x4, 16x16, 32x32, DGEMM of 4x4, of 16x16, v_accvgpr_write, v_accvgpr_read.
    {"checkMAIHazards908: SrcAB", is_matrix, Role::Factor, Meets::Result, by_size(4, 4, 4, 0, 0, 3)},
    {"checkMAIHazards908: SrcC", is_matrix, Role::Addend, Meets::PartOfResult, by_size(2, 2, 2, 0, 0, 1)},
    {"checkMAIHazards908: AccVgprRead", moves_accumulator, Role::Source, Meets::Result, by_size(4, 10, 18, 0, 0, 3)},
    {"checkMAIHazards908: AccVgprWrite", moves_accumulator, Role::Result, Meets::Result, by_size(1, 7, 15)},
    {"checkMAIHazards908: ReadSrcCAccVgprWrite", moves_accumulator, Role::Result, Meets::Addend, by_size(0, 5, 13)},
    {"checkMAILdStHazards: AccVgprReadLdSt", is_memory, Role::Source, Meets::Result, by_size(0, 0, 0, 0, 0, 0, 2)},
    {"checkMAILdStHazards: VALUWriteAccVgprRdWrLdSt", is_memory, Role::Source, Meets::Hidden,
     by_size(0, 0, 0, 0, 0, 2, 2)},
};

constexpr HazardRule kGfx90a[] = {
    stored_data(1),
    {"checkMAIHazards90A: VALUWritesExec", 4, compares_to_exec, is_matrix, always},
    {"checkMAIHazards90A: LegacyVALUNotDotWritesVGPR", 2, is_plain_valu, is_matrix, of_its_sources},
    {"checkMAIVALUHazards: DotWriteSameDot, DotWriteDifferentVALU", 3, is_dot, uses_vectors, of_its_dot},
};
constexpr MatrixRule kMatrixGfx90a[] = {
    // After 4x4, 16x16, 32x32, DGEMM of 4x4, of 16x16.
    {"checkMAIHazards90A: SrcAB", is_matrix, Role::Factor, Meets::Result, by_size(5, 11, 19, 6, 11)},
    {"checkMAIHazards90A: SMFMASrcC", is_sgemm, Role::Addend, Meets::PartOfResult, by_size(2, 8, 16)},
    {"checkMAIHazards90A: DMFMASrcC", is_dgemm, Role::Addend, Meets::PartOfResult, by_size(3, 9, 17, 4, 9)},
    {"checkMAIHazards90A: FullSrcC", is_small_dgemm, Role::Addend, Meets::SameResult, by_size(0, 0, 0, 4)},
    {"checkMAIVALUHazards: VALURead", is_other_valu, Role::Source, Meets::Result, by_size(5, 11, 19, 6, 11)},
    {"checkMAIVALUHazards: MemExpRead", is_memory, Role::Source, Meets::Result, by_size(5, 11, 19, 9, 18)},
    {"checkMAIVALUHazards: DMFMABetweenVALUWriteVMEMRead", is_memory, Role::Source, Meets::Hidden,
     by_size(0, 0, 0, 2, 2)},
    {"checkMAIVALUHazards: VALUWaw", uses_vectors, Role::Result, Meets::Result, by_size(5, 11, 19, 6, 11)},
    {"checkMAIVALUHazards: VALUWar", uses_vectors, Role::Result, Meets::Addend, by_size(1, 7, 15)},
    {"checkMAIVALUHazards: DMFMAToFMA64", fuses_doubles, Role::None, Meets::Anything, by_size(0, 0, 0, 2, 2)},
};

/// Of gfx950, too: gfx942 lacks the instructions that it adds.
constexpr HazardRule kGfx940[] = {
    stored_data(2),
    kGfx90a[1],
    {"checkMAIHazards90A: LegacyVALUNotDotWritesVGPR", 2, is_plain_valu, takes_matrices, of_its_sources},
    kGfx90a[3],
    {"checkVALUHazards: TransDef", 1, is_transcendental, is_other_unit, of_its_result},
    {"checkVALUHazards: Shift16Def", 1, is_valu, is_valu, of_its_part},
    {"checkVALUHazards: CvtScaleForwarding", 1, rounds_pair_by_random, is_valu, of_its_result},
    {"checkVALUHazards: VALUWriteSGPRVALURead", 2, writes_scalar, is_valu, of_its_value},
    {"checkVALUHazards: VALUWriteVGPRReadlaneRead", 1, is_valu, reads_lane, of_its_vector},
    {"checkVALUHazards: VALUWriteEXECRWLane", 4, compares_to_exec, names_lane, always},
    {"checkPermlaneHazards: VALUWritesVDst", 2, is_valu, swaps_rows, of_swapped},
    {"checkPermlaneHazards: VCmpXWritesExec", 4, compares_to_exec, swaps_rows, always},
};
/// `late`: gfx950, of which the results of XDL of more than two passes come later by one, and those of DGEMM of 16x16
/// by eight.
template <bool late>
constexpr MatrixRule kMatrixGfx940[] = {
    {"checkMAIHazards90A: XDL_N_PassWritesVGPROverlappedSrcAB", is_matrix, Role::Factor, Meets::Result,
     by_passes<late>(3, 2, 6, late ? 19 : 11)},
    {"checkMAIHazards90A: XDL_N_PassWritesVGPROverlappedSMFMASrcC", is_xdl, Role::Addend, Meets::PartOfResult,
     by_passes<late>(1, kNone)},
    {"checkMAIHazards90A: SMFMA_N_PassWritesVGPROverlappedSMFMASrcC", is_not_xdl, Role::Addend, Meets::PartOfResult,
     by_passes<late>(1, 0, 4, late ? 17 : 9)},
    {"checkMAIHazards90A: DMFMA4x4WritesVGPRFullSrcC", is_small_dgemm, Role::Addend, Meets::SameResult,
     by_size(0, 0, 0, 4)},
    {"checkMAIHazards90A: SMFMA4x4WritesVGPRFullSrcC", is_matrix, Role::Addend, Meets::SameResult, by_size(2, 0, 0)},
    {"checkMAIVALUHazards: VALURead", is_other_valu, Role::Source, Meets::Result,
     by_passes<late>(3, 2, 6, late ? 19 : 11)},
    {"checkMAIVALUHazards: MemExpRead", is_memory, Role::Source, Meets::Result, by_passes<late>(3, 2, 9, 18)},
    {"checkMAIVALUHazards: VALUWaw", uses_vectors, Role::Result, Meets::Result, by_passes<late>(3, 2, 6, 11)},
    {"checkMAIVALUHazards: VALUWar", uses_vectors, Role::Result, Meets::Addend, {1, 7, 3, 15, 7}},
    {"checkMAIVALUHazards: DMFMAToFMA64", fuses_doubles, Role::None, Meets::Anything, by_size(0, 0, 0, 2, 2)},
};

/// GFX10 has hardware for the others. What LLVM finds on gfx1010 alone is not here.
constexpr HazardRule kGfx1030[] = {
    {.name = "checkFPAtomicToDenormModeHazard",
     .states = 3,
     .earlier = is_float_atomic,
     .later = sets_denormals,
     .applies = always,
     .ends = ends_atomic},
};

/// LLVM has three more rules of this kind, for what the scalar unit writes between vector instructions: not here.
constexpr HazardRule kTiles{.name = "fixWMMAHazards",
                            .states = 1,
                            .earlier = multiplies_tiles,
                            .later = multiplies_tiles,
                            .applies = of_its_factors,
                            .remedy = "v_nop"};
constexpr HazardRule kGfx1151[] = {kTiles}, kGfx1201[] = {kTiles};
constexpr HazardRule kGfx1100[] = {kTiles,
                                   {.name = "fixVALUTransUseHazard",
                                    .states = 6,
                                    .earlier = is_transcendental,
                                    .later = is_valu,
                                    .applies = of_its_half,
                                    .remedy = "s_waitcnt_depctr depctr_va_vdst(0)",
                                    .ends = ends_valu}};

/// A target's tables, in the order in which their rules are tried. `by_valu`: HazardTable's. Nothing else asks for the
/// target.
struct Generation {
    Target target;
    std::span<const HazardRule> common, own;
    std::span<const MatrixRule> matrix;
    bool by_valu = false;
};
constexpr Generation kGenerations[] = {
    {Target::gfx900, kVega, kGfx900, {}},
    {Target::gfx906, kVega, kGfx900, {}},
    {Target::gfx908, kVega, kGfx908, kMatrixGfx908},
    {Target::gfx90a, kVega, kGfx90a, kMatrixGfx90a},
    {Target::gfx942, kVega, kGfx940, kMatrixGfx940<false>},
    {Target::gfx950, kVega, kGfx940, kMatrixGfx940<true>},
    {Target::gfx1030, {}, kGfx1030, {}},
    {Target::gfx1100, {}, kGfx1100, {}, true},
    {Target::gfx1151, {}, kGfx1151, {}, true},
    {Target::gfx1201, {}, kGfx1201, {}, true},
};
static_assert(std::ranges::equal(kGenerations, kTargets, {}, &Generation::target));

/// Whether the rules have bits, and what they look back to is kept.
constexpr bool fits(const Generation& generation) {
    const auto kept = [](const HazardRule& rule) { return rule.states <= Hazards::kMost; };
    const auto kept_long = [](const MatrixRule& rule) { return std::ranges::max(rule.states) <= MatrixHazards::kMost; };
    return generation.common.size() + generation.own.size() <= kFirstMatrixRole &&
           generation.matrix.size() <= 32 - kFirstMatrixRole && std::ranges::all_of(generation.common, kept) &&
           std::ranges::all_of(generation.own, kept) && std::ranges::all_of(generation.matrix, kept_long);
}
static_assert(std::ranges::all_of(kGenerations, fits));

HazardRoles roles_of(const HazardTable& table, const Row& row) {
    if (leaves_function(row)) return {.later = kForgets};
    HazardRoles roles;
    const auto add = [&](unsigned number, bool earlier, bool later) {
        roles.earlier |= std::uint32_t{earlier} << number;
        roles.later |= std::uint32_t{later} << number;
    };
    unsigned number = 0;
    for (const HazardRule& rule : table.rules) {
        if (rule.ends != nullptr && rule.ends(row)) roles.ends |= std::uint32_t{1} << number;
        add(number++, rule.earlier(row), rule.later(row));
    }
    number = kFirstMatrixRole;
    for (const MatrixRule& rule : table.matrix) add(number++, states_after(row, rule) != 0, rule.later(row));
    return roles;
}

HazardTable table_of(const Generation& generation) {
    HazardTable table{.rules{generation.common.begin(), generation.common.end()}, .matrix = generation.matrix};
    table.rules.insert(table.rules.end(), generation.own.begin(), generation.own.end());
    table.by_valu = generation.by_valu;
    for (std::size_t n = 0; n < table.rules.size(); ++n) table.only[table.rules[n].when] |= std::uint32_t{1} << n;
    for (std::size_t n = 0; n < kRowCount; ++n) table.roles[n] = roles_of(table, rows()[n]);
    return table;
}

}  // namespace

const HazardTable& hazard_table(Target target) {
    static const auto made = [] {
        std::array<HazardTable, std::size(kGenerations)> tables;
        std::ranges::transform(kGenerations, tables.begin(), table_of);
        return tables;
    }();
    return made[static_cast<std::size_t>(target)];
}

void Hazards::end(std::uint32_t roles) {
    for (Past& past : past_) past.roles &= ~roles;
    recent_ &= ~roles;
}

void Hazards::push_matrix(const Inst& inst) {
    const Past& before = past_[(last_ - 1) % kMost];
    const bool directly = before.when + states_of(before.inst) == now_;
    const bool hidden = directly && is_valu(rows()[before.inst.row]) && (before.roles & kMatrixRoles) == 0;
    matrix_.push(inst, now_, hidden ? &before.inst : nullptr);
}

const Hazard* Hazards::search(const Inst& inst, unsigned later) {
    if (later == kForgets) {
        forget();
        return nullptr;
    }
    if (!inst.moves_lanes()) later &= ~table_->only[HazardRule::Dpp];
    if (!inst.has(kScalarSetup)) later &= ~table_->only[HazardRule::ScalarSetup];
    if ((later & recent_) == 0) return nullptr;
    const bool matrix = (later & recent_ & kMatrixRoles) != 0;
    recent_ = matrix_.recent(now_) ? kMatrixRoles : 0;
    const Hazard* found = matrix ? matrix_.search(inst, later >> kFirstMatrixRole, now_) : nullptr;
    later &= ~kMatrixRoles;
    for (const Past& past : past_) {
        const std::uint64_t states = now_ - past.when - states_of(past.inst);
        if (states >= kMost) continue;
        recent_ |= past.roles;
        for (unsigned shared = past.roles & later; shared != 0 && found == nullptr; shared &= shared - 1) {
            const HazardRule& rule = table_->rules[static_cast<unsigned>(std::countr_zero(shared))];
            if (rule.states <= states || !rule.applies(past.inst, inst)) continue;
            if (transcendentals_ - past.transcendentals - is_transcendental(past.inst) > 1) continue;
            found_ = {past.inst, rule.states, static_cast<unsigned>(states), rule.remedy};
            found = &found_;
        }
    }
    return found;
}

}  // namespace kfdemu::check
