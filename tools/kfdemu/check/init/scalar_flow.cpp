#include "scalar_flow.hpp"

#include <array>
#include <string_view>

#include "data_flow.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;
using enum Op;

/// How an instruction sets SCC; derived from its meaning.
enum class SccResult : std::uint8_t { Kept, Nonzero, Other };

constexpr SccResult scc_result(std::string_view meaning) {
    if (meaning.find("scc = d != 0") != meaning.npos) return SccResult::Nonzero;
    const bool set = meaning.find("scc = ") != meaning.npos || meaning.find(", scc)") != meaning.npos;
    return set ? SccResult::Other : SccResult::Kept;
}

SccResult scc_result_of(Op op) {
    static const auto table = [] {
        std::array<SccResult, kRowCount> all{};
#define SOP1(opcode, name, on, d, a, ...) all[index(Op::name)] = scc_result(#__VA_ARGS__);
#define SOP2(opcode, name, on, d, a, b, ...) all[index(Op::name)] = scc_result(#__VA_ARGS__);
#define SOPC(opcode, name, on, a, b, ...) all[index(Op::name)] = scc_result(#__VA_ARGS__);
#define SOPK(opcode, name, on, d, a, ...) all[index(Op::name)] = scc_result(#__VA_ARGS__);
#include "../../isa/rows/sop1.inc"
#include "../../isa/rows/sop2.inc"
#include "../../isa/rows/sopc.inc"
#include "../../isa/rows/sopk.inc"
#undef SOP1
#undef SOP2
#undef SOPC
#undef SOPK
        return all;
    }();
    return table[index(op)];
}

class ScalarFlow {
  public:
    explicit ScalarFlow(const Flow& flow)
        : flow_{flow}, inst_{flow.inst}, row_{flow.row()}, op_{flow.op()}, width_{32 * dwords(row_.dst)} {
        const bool immediate = row_.format == Format::Sopk || row_.format == Format::Sopp;
        if (!immediate) {
            a_ = flow.read_scalar(inst_.src[0], dwords(row_.src[0]));
            if (op_ != s_set_gpr_idx_on) b_ = flow.read_scalar(inst_.src[1], dwords(row_.src[1]));
        }
        if (row_.dst != Type::none) old_ = flow.read_scalar(inst_.dst, dwords(row_.dst));
        scc_ = {{flow.wave.scc, flow.own.registers.scc.bits}, scc_origin()};
    }

    void run() {
        if (row_.format == Format::Sopp) return branch();
        if (jumps() || indexes() || saves_exec() || moves_indirectly()) return;
        if (op_ == s_cmov_b32 || op_ == s_cmov_b64 || op_ == s_cmovk_i32) return conditional_move();
        const Value result = result_of_row();
        set_scc(result);
        const bool reads_only = row_.format == Format::Sopk && op_ >= s_cmpk_eq_i32 && op_ <= s_cmpk_le_u32;
        if (row_.dst != Type::none && !reads_only && op_ != s_setreg_b32)
            flow_.write_scalar(inst_.dst, dwords(row_.dst), result);
    }

  private:
    Origin scc_origin() const {
        const Undefined& scc = flow_.own.registers.scc;
        return scc.bits != 0 && scc.origin == 0 ? flow_.shared.origins.add({Source::Scc, 0, inst_}) : scc.origin;
    }
    void report_branch(const Value& value, const char* what) {
        flow_.report(kBranchRule, std::string{what} + " depends on", value.origin, kWholeWave);
    }

    void branch() {
        if ((op_ == s_cbranch_scc0 || op_ == s_cbranch_scc1) && scc_.bits.any()) {
            report_branch(scc_, "a branch");
            flow_.own.registers.scc = {};
        }
        if (op_ != s_cbranch_vccz && op_ != s_cbranch_vccnz) return;
        const Value vcc = flow_.read_scalar(kVcc, 2);
        if (!nonzero_is_undefined(vcc.bits)) return;
        report_branch(vcc, "a branch");
        flow_.write_scalar(kVcc, 2, {});
    }
    bool jumps() {
        const bool both = op_ == s_cbranch_g_fork;
        const bool one = op_ == s_setpc_b64 || op_ == s_swappc_b64 || op_ == s_cbranch_join || op_ == s_setvskip;
        const bool fork = op_ == s_cbranch_i_fork;
        if (!both && !one && !fork) return false;
        const Value& target = fork ? old_ : a_.bits.any() || !both ? a_ : b_;
        if (target.bits.any()) report_branch(target, "a jump");
        if (op_ == s_swappc_b64) flow_.write_scalar(inst_.dst, 2, {});
        return true;
    }
    bool indexes() {
        if (op_ != s_set_gpr_idx_on && op_ != s_set_gpr_idx_idx) return false;
        if ((a_.bits.undefined & 0xff) != 0)
            flow_.report(kAddress, "a register's number depends on", a_.origin, kWholeWave);
        return true;
    }

    /// The new EXEC of the instructions that combine it with source 0.
    bool new_exec(Bits& next) const {
        const Bits a = a_.bits, exec{flow_.wave.exec(), 0};
        const auto no = [](Bits v) { return logical_not(v, 64); };
        switch (op_) {
            case s_and_saveexec_b64:
                return next = logical_and(a, exec), true;
            case s_or_saveexec_b64:
                return next = logical_or(a, exec), true;
            case s_xor_saveexec_b64:
                return next = logical_xor(a, exec), true;
            case s_andn2_saveexec_b64:
            case s_andn2_wrexec_b64:
                return next = logical_and(a, no(exec)), true;
            case s_orn2_saveexec_b64:
                return next = logical_or(a, no(exec)), true;
            case s_nand_saveexec_b64:
                return next = no(logical_and(a, exec)), true;
            case s_nor_saveexec_b64:
                return next = no(logical_or(a, exec)), true;
            case s_xnor_saveexec_b64:
                return next = no(logical_xor(a, exec)), true;
            case s_andn1_saveexec_b64:
            case s_andn1_wrexec_b64:
                return next = logical_and(no(a), exec), true;
            case s_orn1_saveexec_b64:
                return next = logical_or(no(a), exec), true;
            default:
                return false;
        }
    }
    /// EXEC is reported and then taken to be defined, as are SCC and the saved value.
    bool saves_exec() {
        Bits next;
        if (!new_exec(next)) return false;
        flow_.write_exec({next, a_.origin});
        flow_.own.registers.scc = {};
        flow_.write_scalar(inst_.dst, 2, {});
        return true;
    }

    bool moves_indirectly() {
        const bool from = op_ == s_movrels_b32 || op_ == s_movrels_b64,
                   to = op_ == s_movreld_b32 || op_ == s_movreld_b64;
        if (!from && !to) return false;
        const Value m0 = flow_.read_scalar(kM0, 1);
        if (m0.bits.any()) {
            flow_.report(kAddress, "a register's number depends on", m0.origin, kWholeWave);
            flow_.write_scalar(kM0, 1, {});
        }
        const std::uint64_t moved = (from ? inst_.src[0] : inst_.dst) + m0.bits.value;
        if (moved + dwords(row_.dst) > kFlatScratch) return true;  // illegal
        const auto operand = static_cast<Operand>(moved);
        flow_.write_scalar(from ? inst_.dst : operand, dwords(row_.dst),
                           from ? flow_.read_scalar(operand, dwords(row_.dst)) : a_);
        return true;
    }
    void conditional_move() {
        Value moved = a_;
        if (op_ == s_cmovk_i32) moved = {{static_cast<std::uint32_t>(inst_.offset), 0}, 0};
        const Origin origin = scc_.bits.any() ? scc_.origin | kComputed : flow_.wave.scc ? moved.origin : old_.origin;
        flow_.write_scalar(inst_.dst, dwords(row_.dst), {select(scc_.bits, moved.bits, old_.bits), origin});
    }

    bool reads_scc() const {
        return op_ == s_addc_u32 || op_ == s_subb_u32 || op_ == s_cselect_b32 || op_ == s_cselect_b64;
    }
    /// Of the old value of its destination.
    bool keeps_bits() const {
        return op_ == s_bitset0_b32 || op_ == s_bitset0_b64 || op_ == s_bitset1_b32 || op_ == s_bitset1_b64;
    }
    bool is_same_register() const {
        const bool cancels = op_ == s_xor_b32 || op_ == s_xor_b64 || op_ == s_sub_u32 || op_ == s_sub_i32;
        return cancels && inst_.src[0] == inst_.src[1] && inst_.src[0] < kConstants;
    }
    Value result_of_row() {
        if (is_same_register()) return a_ = b_ = {};
        if (row_.format == Format::Sopk) return immediate_result();
        Value result;
        result.origin = a_.bits.any() ? a_.origin : b_.bits.any() ? b_.origin : scc_.origin;
        if (const Meaning meaning = meaning_of(op_)) {
            result.bits = meaning({a_.bits, b_.bits, old_.bits, scc_.bits});
        } else if (is_minimum()) {
            result = minimum();
        } else {
            const bool any = a_.bits.any() || b_.bits.any() || (reads_scc() && scc_.bits.any());
            result.bits = {0, any ? low_bits(width_) : 0};
        }
        if (keeps_bits() && !a_.bits.any() && !b_.bits.any()) result.origin = old_.origin;
        if (!only_moves(op_) || (reads_scc() && scc_.bits.any())) result.origin |= kComputed;
        return result;
    }
    Value immediate_result() const {
        const Bits k{static_cast<std::uint32_t>(inst_.offset), 0};
        if (op_ == s_addk_i32) return {add(old_.bits, k, 32), old_.origin | kComputed};
        if (op_ == s_mulk_i32) return {{0, old_.bits.any() ? low_bits(32) : 0}, old_.origin | kComputed};
        return {};
    }
    bool is_minimum() const { return op_ == s_min_i32 || op_ == s_min_u32 || op_ == s_max_i32 || op_ == s_max_u32; }
    Value minimum() const {
        const bool is_signed = op_ == s_min_i32 || op_ == s_max_i32, least = op_ == s_min_i32 || op_ == s_min_u32;
        if (order_is_undefined(a_.bits, b_.bits, is_signed, 32))
            return {{0, low_bits(32)}, a_.bits.any() ? a_.origin : b_.origin};
        const std::uint32_t turn = is_signed ? 1u << 31 : 0;
        const bool below = (a_.bits.value ^ turn) < (b_.bits.value ^ turn);
        return below == least ? a_ : b_;
    }

    bool comparison_is_undefined(Bits a, Bits b) const {
        const std::string_view name = row_.name;
        if (name.find("_eq_") != name.npos || name.find("_lg_") != name.npos) return equality_is_undefined(a, b);
        const bool is_signed = name.find("_i32") != name.npos;
        const bool turned = name.find("_gt_") != name.npos || name.find("_le_") != name.npos;
        return turned ? order_is_undefined(b, a, is_signed, 32) : order_is_undefined(a, b, is_signed, 32);
    }
    bool other_scc_is_undefined() const {
        const Bits a = a_.bits, b = b_.bits, none{};
        if (row_.format == Format::Sopk) {
            const std::uint32_t k = static_cast<std::uint32_t>(inst_.offset);
            const bool is_unsigned = op_ >= s_cmpk_eq_u32 && op_ <= s_cmpk_le_u32;
            return comparison_is_undefined(old_.bits, {is_unsigned ? k & 0xffff : k, 0});
        }
        switch (op_) {
            case s_add_u32:
                return carry_is_undefined(a, b, none, 32);
            case s_addc_u32:
                return carry_is_undefined(a, b, scc_.bits, 32);
            case s_sub_u32:
                return borrow_is_undefined(a, b, none);
            case s_subb_u32:
                return borrow_is_undefined(a, b, scc_.bits);
            case s_bitcmp0_b32:
            case s_bitcmp1_b32:
                return (shift_right(a, b, 32).undefined & 1) != 0;
            case s_bitcmp0_b64:
            case s_bitcmp1_b64:
                return (shift_right(a, b, 64).undefined & 1) != 0;
            case s_min_i32:
                return order_is_undefined(a, b, true, 32);
            case s_min_u32:
                return order_is_undefined(a, b, false, 32);
            case s_max_i32:
                return order_is_undefined(b, a, true, 32);
            case s_max_u32:
                return order_is_undefined(b, a, false, 32);
            default:
                return row_.format == Format::Sopc ? comparison_is_undefined(a, b) : a.any() || b.any();
        }
    }
    void set_scc(const Value& result) {
        const SccResult how = scc_result_of(op_);
        if (how == SccResult::Kept) return;
        const bool undefined = how == SccResult::Nonzero ? nonzero_is_undefined(result.bits) : other_scc_is_undefined();
        const bool updates = row_.format == Format::Sopk;
        const Value& from = a_.bits.any() ? a_ : b_.bits.any() ? b_ : updates ? old_ : scc_;
        flow_.own.registers.scc = undefined ? Undefined{1, from.origin | kComputed} : Undefined{};
    }

    const Flow& flow_;
    const Inst& inst_;
    const Row& row_;
    const Op op_;
    const unsigned width_;
    Value a_, b_, old_, scc_;
};

}  // namespace

void flow_scalar(const Flow& flow) { ScalarFlow{flow}.run(); }

bool is_indirect(Op op) {
    switch (op) {
        case s_movrels_b32:
        case s_movrels_b64:
        case s_movreld_b32:
        case s_movreld_b64:
        case s_cmov_b32:
        case s_cmov_b64:
        case s_cmovk_i32:
            return true;
        default:
            return false;
    }
}

}  // namespace kfdemu::check
