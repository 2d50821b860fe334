#include "tools/kfdemu/check/init/scalar_flow.hpp"

#include <string>
#include <utility>

#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/check/init/data_flow.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

class ScalarFlow {
  public:
    explicit ScalarFlow(const Flow& flow)
        : flow_{flow}, inst_{flow.inst}, row_{flow.row()}, rule_{flow_of(flow.op())}, width_{32 * dwords(row_.dst)} {
        if (row_.format == Format::Sopk) {
            const auto k = static_cast<std::uint32_t>(inst_.offset);
            b_.bits.value = row_.src[0] == Type::uimm ? k & 0xffff : k;
            if (row_.is(kReadsDst)) a_ = flow.read_scalar(inst_.dst, dwords(row_.dst));
            if (row_.is(kReadsScc)) std::swap(a_, b_), c_ = b_;  // s_cmovk_i32 moves the immediate
        } else if (row_.format != Format::Sopp) {
            a_ = flow.read_scalar(inst_.src[0], dwords(row_.src[0]));
            b_ = flow.read_scalar(inst_.src[1], dwords(row_.src[1]));
            c_ = row_.is(kReadsDst) ? flow.read_scalar(inst_.dst, dwords(row_.dst))
                                    : flow.read_scalar(inst_.src[2], dwords(row_.src[2]));
        }
        if (row_.is(kReadsScc)) scc_ = {{flow.wave.scc, flow.own.registers.scc.bits}, scc_origin()};
    }

    void run() {
        if (row_.format == Format::Sopp) return branch();
        if (row_.is(kJump) || row_.is(kSteers)) return jump();
        if (row_.is(kIndexes)) return index();
        if (rule_.to_exec) return set_exec();
        if (row_.is(kMovesFrom) || row_.is(kMovesTo)) return move_indirectly();
        const Value result = result_of_row();
        set_scc(result);
        if (row_.dst != Type::none && !row_.is(kNoResult)) flow_.write_scalar(inst_.dst, dwords(row_.dst), result);
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
        if (scc_.bits.any()) {
            report_branch(scc_, "a branch");
            flow_.own.registers.scc = {};
        }
        if (!row_.is(kReadsVcc)) return;
        const Value vcc = flow_.read_scalar(kVcc, inst_.mask_dwords());
        if (!nonzero_is_undefined(vcc.bits)) return;
        report_branch(vcc, "a branch");
        flow_.write_scalar(kVcc, inst_.mask_dwords(), {});
    }
    void jump() {
        const Value& target = a_.bits.any() ? a_ : b_;
        if (flow_.op() == Op::s_subvector_loop_end)
            flow_.write_exec(a_);
        else if (flow_.op() != Op::s_subvector_loop_begin && target.bits.any())
            report_branch(target, "a jump");
        if (row_.dst != Type::none && !row_.is(kNoResult)) flow_.write_scalar(inst_.dst, dwords(row_.dst), {});
    }
    void index() {
        if ((a_.bits.undefined & 0xff) != 0)
            flow_.report(kAddress, "a register's number depends on", a_.origin, kWholeWave);
    }
    /// EXEC is reported and then taken to be defined, as are SCC and the saved value.
    void set_exec() {
        flow_.write_exec({rule_.result({a_.bits, {flow_.wave.exec(), 0}, {}, {}}), a_.origin});
        flow_.own.registers.scc = {};
        flow_.write_scalar(inst_.dst, dwords(row_.dst), {});
    }

    void move_indirectly() {
        flow_.judge_m0();
        const Inst moved = moved_by_m0(inst_, flow_.wave.s[kM0]);
        const bool from = row_.is(kMovesFrom), to = row_.is(kMovesTo);
        if ((from && moved.src[0] >= kTtmp0) || (to && moved.dst >= kTtmp0)) return;  // illegal
        const unsigned count = dwords(row_.dst);
        flow_.write_scalar(moved.dst, count, from ? flow_.read_scalar(moved.src[0], count) : a_);
    }

    bool cancels() const { return row_.is(kCancels) && inst_.src[0] == inst_.src[1] && inst_.src[0] < kConstants; }
    Operands operands() const { return {a_.bits, b_.bits, c_.bits, scc_.bits}; }
    Value result_of_row() {
        if (cancels()) return a_ = b_ = {};
        Value result;
        const bool any = operands().any() || scc_.bits.any();
        result.bits = rule_.result != nullptr ? rule_.result(operands()) : Bits{0, any ? low_bits(width_) : 0};
        result.origin = origin(result.bits.undefined);
        if (!rule_.moves || scc_.bits.any()) result.origin |= kComputed;
        return result;
    }
    /// Of the first source that has one of these undefined bits, else of the first that has any.
    Origin origin(std::uint64_t undefined) const {
        for (const Value* value : {&a_, &b_, &c_})
            if ((value->bits.undefined & undefined) != 0) return value->origin;
        for (const Value* value : {&a_, &b_, &scc_, &c_})
            if (value->bits.any()) return value->origin;
        return 0;
    }
    void set_scc(const Value& result) {
        if (!row_.is(kWritesScc)) return;
        const bool undefined =
            rule_.is_undefined != nullptr ? rule_.is_undefined(operands(), result.bits) : operands().any();
        flow_.own.registers.scc = undefined ? Undefined{1, origin(0) | kComputed} : Undefined{};
    }

    const Flow& flow_;
    const Inst& inst_;
    const Row& row_;
    const RowFlow& rule_;
    const unsigned width_;
    Value a_, b_, c_, scc_;
};

}  // namespace

void flow_scalar(const Flow& flow) { ScalarFlow{flow}.run(); }

}  // namespace kfdemu::check
