#include "hazards.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "../../isa/wave/wave.hpp"
#include "../flow/register_use.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

constexpr Operand kVccz = 251, kExecz = 252;  // as sources

bool is_salu(const Row& row) {
    return row.format == Format::Sop1 || row.format == Format::Sop2 || row.format == Format::Sopk;
}
bool compares_to_exec(const Row& row) { return row.format == Format::Vopc && row.is(kWritesExec); }
bool writes_scalar(const Row& row) {
    return row.format == Format::Vopc || (is_valu(row) && (row.is(kCarryOut) || row.dst == Type::s32));
}
bool sets_register(const Row& row) { return is_op(row, Op::s_setreg_b32) || is_op(row, Op::s_setreg_imm32_b32); }
/// The hardware reads the data of a store of more than 8 bytes one state late.
bool stores_late(const Row& row) {
    return is_vector_memory(row) && (row.is(kStore) || row.is(kAtomic)) && dwords(row.src[1]) > 2;
}
bool scales_quotient(const Row& row) { return is_op(row, Op::v_div_fmas_f32) || is_op(row, Op::v_div_fmas_f64); }
bool selects_lane(const Row& row) { return is_op(row, Op::v_readlane_b32) || is_op(row, Op::v_writelane_b32); }
bool uses_register(const Row& row) { return is_op(row, Op::s_getreg_b32) || sets_register(row); }
bool may_use_m0(const Row& row) {
    return row.format == Format::Ds || row.format == Format::Flat || row.format == Format::Mubuf ||
           is_op(row, Op::s_movrels_b32) || is_op(row, Op::s_movrels_b64) || is_op(row, Op::s_movreld_b32) ||
           is_op(row, Op::s_movreld_b64) || is_op(row, Op::s_sendmsg) || is_op(row, Op::s_sendmsghalt) ||
           is_op(row, Op::s_ttracedata);
}

/// What a function does not know of its callers and callees: LLVM does not look across them, and what it compiles would
/// be reported.
bool leaves_function(const Row& row) {
    return is_op(row, Op::s_swappc_b64) || is_op(row, Op::s_setpc_b64) || is_op(row, Op::s_call_b64);
}
bool is_dot(const Row& row) { return row.is(kDot); }
bool is_matrix(const Row& row) { return row.is(kMatrix); }
bool is_plain_valu(const Row& row) { return is_valu(row) && !is_matrix(row) && !is_dot(row); }
bool to_accumulator(const Row& row) { return is_op(row, Op::v_accvgpr_write_b32); }
bool to_vgpr(const Row& row) { return is_valu(row) && !is_matrix(row) && !to_accumulator(row); }  // on gfx908
bool uses_vectors(const Row& row) {
    return !is_matrix(row) && (is_valu(row) || is_vector_memory(row) || row.format == Format::Ds);
}

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
    return {one ? inst.dst : inst.sdst, static_cast<std::uint8_t>(one ? 1 : 2)};
}
bool of_its_scalar(const Inst& earlier, const Inst& later) {
    const RegisterUse written = written_scalars(earlier);
    const auto reads = [&](Operand first, unsigned count) {
        return overlap(first, count, written.first, written.count);
    };
    if (later.format != Format::Flat) return reads(later.src[2], 4) || reads(later.sdst, 1);
    const bool scratch = later.segment == Segment::Scratch;
    return reads(later.src[2], scratch ? 1 : 2) || (later.segment != Segment::Global && reads(kFlatScratch, 2));
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

bool of_its_sources(const Inst& earlier, const Inst& later) {
    const Row& row = rows()[later.row];
    for (unsigned n = 0; n < 3; ++n)
        if (later.src[n] >= kVgpr0 && dwords(row.src[n]) != 0 && writes(earlier, later.src[n], dwords(row.src[n])))
            return true;
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

enum class When : std::uint8_t { Any, Dpp, ScalarSetup };  // which forms of the later one

struct Rule {
    unsigned states;  // that must be between the two
    bool (*earlier)(const Row&);
    bool (*later)(const Row&);
    When when;
    bool (*applies)(const Inst& earlier, const Inst& later);
    std::uint8_t targets = targets::all;
};
constexpr Rule kRules[] = {
    {5, writes_scalar, is_vector_memory, When::Any, of_its_scalar},
    {5, compares_to_exec, is_valu, When::Dpp, always},
    {5, writes_scalar, is_valu, When::ScalarSetup, of_its_flags},
    {4, writes_scalar, scales_quotient, When::Any, of_its_vcc},
    {4, writes_scalar, selects_lane, When::Any, of_its_lane},
    {2, is_valu, is_valu, When::Dpp, of_its_vector},
    {2, sets_register, uses_register, When::Any, of_same_register},
    {1, is_salu, may_use_m0, When::Any, of_its_m0},
    {1, stores_late, is_valu, When::Any, of_its_data},
    {4, compares_to_exec, is_matrix, When::Any, always, targets::from908},
    {4, compares_to_exec, to_accumulator, When::Any, always, targets::gfx908},
    {2, to_vgpr, is_matrix, When::Any, of_its_sources, targets::gfx908},
    {2, to_vgpr, to_accumulator, When::Any, of_its_sources, targets::gfx908},
    {2, is_plain_valu, is_matrix, When::Any, of_its_sources, targets::gfx90a},
    {3, is_dot, uses_vectors, When::Any, of_its_dot, targets::gfx90a},
};

using Table = std::array<HazardRoles, kRowCount>;

static_assert((1u << std::size(kRules)) <= kMatrixRole);

HazardRoles roles_of(Target target, const Row& row) {
    if (leaves_function(row)) return {.earlier = 0, .later = kLeavesFunction};
    HazardRoles roles;
    for (std::size_t rule = 0; rule < std::size(kRules); ++rule) {
        if ((kRules[rule].targets & bit(target)) == 0) continue;
        const auto role = static_cast<std::uint16_t>(1u << rule);
        if (kRules[rule].earlier(row)) roles.earlier |= role;
        if (kRules[rule].later(row)) roles.later |= role;
    }
    if (MatrixHazards::is_earlier(target, row)) roles.earlier |= kMatrixRole;
    if (MatrixHazards::is_later(target, row)) roles.later |= kMatrixRole;
    return roles;
}

std::array<Table, std::size(kTargets)> make_tables() {
    std::array<Table, std::size(kTargets)> tables;
    for (const Target target : kTargets)
        for (std::size_t n = 0; n < kRowCount; ++n)
            tables[static_cast<std::size_t>(target)][n] = roles_of(target, rows()[n]);
    return tables;
}

constexpr unsigned rules(When when) {
    unsigned bits = 0;
    for (std::size_t n = 0; n < std::size(kRules); ++n) bits |= unsigned{kRules[n].when == when} << n;
    return bits;
}

}  // namespace

const HazardRoles* hazard_roles(Target target) {
    static const auto made = make_tables();
    return made[static_cast<std::size_t>(target)].data();
}

void Hazards::push_matrix(const Inst& inst) {
    const Past& before = past_[(last_ - 1) % kMost];
    const bool directly = before.when + states_of(before.inst) == now_;
    matrix_.push(inst, now_, directly && is_valu(rows()[before.inst.row]) ? &before.inst : nullptr);
}

const Hazard* Hazards::search(const Inst& inst, unsigned later) {
    if (later == kLeavesFunction) {
        forget();
        return nullptr;
    }
    if (inst.form != Form::Dpp) later &= ~rules(When::Dpp);
    if (!inst.has(kScalarSetup)) later &= ~rules(When::ScalarSetup);
    if ((later & recent_) == 0) return nullptr;
    const bool matrix = (later & recent_ & kMatrixRole) != 0;
    later &= ~unsigned{kMatrixRole};
    recent_ = matrix_.recent(now_) ? kMatrixRole : 0;
    const Hazard* found = matrix ? matrix_.search(inst, now_) : nullptr;
    for (const Past& past : past_) {
        const std::uint64_t states = now_ - past.when - states_of(past.inst);
        if (states >= kMost) continue;
        recent_ |= past.roles;
        for (unsigned shared = past.roles & later; shared != 0 && found == nullptr; shared &= shared - 1) {
            const Rule& rule = kRules[std::countr_zero(shared)];
            if (rule.states <= states || !rule.applies(past.inst, inst)) continue;
            found_ = {past.inst, rule.states, static_cast<unsigned>(states)};
            found = &found_;
        }
    }
    return found;
}

}  // namespace kfdemu::check
