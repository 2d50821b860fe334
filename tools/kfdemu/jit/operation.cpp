#include "tools/kfdemu/jit/operation.hpp"

#include <initializer_list>
#include <optional>
#include <utility>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"
#include "tools/kfdemu/jit/operation_rows.hpp"

namespace kfdemu::jit {
namespace {

using isa::Inst;
using isa::Op;
using isa::Operand;

constexpr Operand kSgprEnd = 102;

bool is_compare(Lane lane) { return lane >= Lane::compare_f && lane <= Lane::compare_u16; }
bool has_carry_out(Lane lane) {
    return lane == Lane::add_carry || lane == Lane::sub_carry || lane == Lane::add_with_carry ||
           lane == Lane::sub_with_carry;
}
bool has_mask_in(Lane lane) {
    return lane == Lane::select || lane == Lane::add_with_carry || lane == Lane::sub_with_carry;
}
bool is_pair(Operand operand) { return operand + 1 < kSgprEnd || operand == isa::kVcc; }
bool is_mask(Operand operand, const Shape& shape) {
    return operand + shape.mask_sgprs() <= kSgprEnd || operand == isa::kVcc;
}
bool is_unmodified(const Inst& inst) {
    return inst.form == isa::Form::Vop3 && !inst.has(isa::kFinish) && !inst.has(isa::kPrepare) && !inst.clamp;
}
bool is_vgpr(Operand operand) { return operand >= isa::kVgpr0 && operand < isa::kAcc0; }

/// `upper_half`: the second dword of a pair; that of an inline constant is zero.
std::optional<Source> source_of(const Inst& inst, Operand operand, bool upper_half = false) {
    using Kind = Source::Kind;
    if (operand >= isa::kAcc0) return std::nullopt;
    if (operand >= isa::kVgpr0)
        return Source{Kind::vgpr, static_cast<std::uint16_t>(operand - isa::kVgpr0 + upper_half), 0};
    if (operand == isa::kVccz || operand == isa::kExecz || operand == isa::kScc253) return std::nullopt;
    // Interpreting the lanes after a NaN changes EXEC.
    if (operand + upper_half == isa::kExec || operand + upper_half == isa::kExec + 1) return std::nullopt;
    if (upper_half && operand >= isa::kConstants) return Source{Kind::number, 0, 0};
    if (operand == isa::kLiteral) return Source{Kind::number, 0, inst.literal};
    if (operand >= isa::kConstants && operand <= isa::kConstants + 64)
        return Source{Kind::number, 0, std::uint32_t{operand} - isa::kConstants};
    return Source{Kind::scalar, static_cast<std::uint16_t>(operand + upper_half), 0};
}

bool one_operation(const Inst& inst, const Entry& entry, const Shape& shape, std::vector<LaneOp>& ops) {
    if (inst.form != isa::Form::Plain && inst.form != isa::Form::Vop3) return false;
    if (inst.has(isa::kFinish) || inst.clamp || inst.omod != 0) return false;
    if (entry.lane == Lane::convert_u && shape.width == Width::bits256) return false;
    const bool crowded = entry.lane == Lane::mad_f || entry.lane == Lane::min_f || entry.lane == Lane::max_f;
    if (crowded && inst.has(isa::kPrepare) && shape.width == Width::bits256) return false;  // too many temporaries
    LaneOp op{.lane = entry.lane, .code = entry.code};
    if (inst.has(isa::kPrepare) && (!op.ignores_payload() || inst.op_sel != 0 || inst.op_sel_hi != 0)) return false;
    for (unsigned n = 0; n < entry.sources; ++n) {
        auto source = source_of(inst, inst.src[n]);
        if (!source) return false;
        source->absolute = inst.abs >> n & 1;
        source->negative = inst.neg >> n & 1;
        op.source[n] = *source;
    }
    if (entry.order == Order::reversed) std::swap(op.source[0], op.source[1]);
    if (!is_compare(entry.lane)) {
        if (!is_vgpr(inst.dst)) return false;
        op.dst = static_cast<std::uint16_t>(inst.dst - isa::kVgpr0);
    }
    if (entry.order == Order::with_dst) op.source[2] = {Source::Kind::vgpr, op.dst, 0};
    if (has_mask_in(entry.lane)) {
        if (!is_mask(inst.src[2], shape)) return false;
        op.mask_in = inst.src[2];
    }
    if (is_compare(entry.lane) || has_carry_out(entry.lane)) {
        if (!is_mask(inst.sdst, shape)) return false;
        op.mask_out = inst.sdst;
    }
    ops.push_back(op);
    return true;
}

bool reads(const LaneOp& op, unsigned vgpr) {
    for (const Source& source : op.source)
        if (source.is_vgpr(vgpr)) return true;
    return false;
}
/// Two operations of which neither may see the other's result.
bool both(LaneOp first, LaneOp second, std::vector<LaneOp>& ops) {
    if (reads(second, first.dst)) std::swap(first, second);
    if (reads(second, first.dst)) return false;
    ops.push_back(first);
    ops.push_back(second);
    return true;
}

/// V_PK_*_F32: OP_SEL and OP_SEL_HI choose the sources of the two results, NEG and NEG_HI their signs.
bool packed(const Inst& inst, Lane lane, unsigned sources, std::vector<LaneOp>& ops) {
    if (inst.clamp || !is_vgpr(inst.dst) || inst.dst + 1 >= isa::kAcc0) return false;
    LaneOp half[2];
    for (unsigned high = 0; high < 2; ++high) {
        half[high].lane = lane;
        half[high].dst = static_cast<std::uint16_t>(inst.dst - isa::kVgpr0 + high);
        for (unsigned n = 0; n < sources; ++n) {
            const auto source = source_of(inst, inst.src[n], ((high ? inst.op_sel_hi : inst.op_sel) >> n & 1) != 0);
            if (!source || inst.src[n] == isa::kLiteral) return false;
            half[high].source[n] = *source;
            half[high].source[n].negative = ((high ? inst.abs : inst.neg) >> n & 1) != 0;
        }
    }
    return both(half[0], half[1], ops);
}

/// V_PK_MOV_B32: a dword of source 0 and one of source 1, as OP_SEL says.
bool packed_move(const Inst& inst, std::vector<LaneOp>& ops) {
    if (inst.clamp || inst.neg != 0 || inst.abs != 0 || !is_vgpr(inst.dst) || inst.dst + 1 >= isa::kAcc0) return false;
    LaneOp half[2];
    for (unsigned n = 0; n < 2; ++n) {
        const auto source = source_of(inst, inst.src[n], (inst.op_sel >> n & 1) != 0);
        if (!source || inst.src[n] == isa::kLiteral) return false;
        half[n].dst = static_cast<std::uint16_t>(inst.dst - isa::kVgpr0 + n);
        half[n].source[0] = *source;
    }
    return both(half[0], half[1], ops);
}

/// V_LSHLREV_B64 by 1 to 31.
bool wide_shift_left(const Inst& inst, std::vector<LaneOp>& ops) {
    const auto by = source_of(inst, inst.src[0]);
    if (!by || by->kind != Source::Kind::number || by->number == 0 || by->number > 31) return false;
    if (!is_vgpr(inst.dst) || !is_vgpr(inst.src[1]) || !is_unmodified(inst)) return false;
    const auto low = *source_of(inst, inst.src[1]), high = *source_of(inst, inst.src[1], true);
    const auto dst = static_cast<std::uint16_t>(inst.dst - isa::kVgpr0);
    LaneOp upper{.lane = Lane::align_bits, .dst = static_cast<std::uint16_t>(dst + 1)};
    upper.source = {high, low, {Source::Kind::number, 0, 32 - by->number}};
    LaneOp lower{.lane = Lane::shift_left, .dst = dst};
    lower.source = {low, *by};
    return both(upper, lower, ops);
}

/// DS_READ_B32 to B128 and DS_READ2: `dwords` from each of the offsets.
bool load(const Inst& inst, unsigned dwords, std::initializer_list<std::uint32_t> offsets, std::vector<LaneOp>& ops) {
    if (inst.has(isa::kLds) || !is_vgpr(inst.dst) || !is_vgpr(inst.src[0])) return false;
    const auto count = static_cast<std::uint16_t>(dwords * offsets.size());
    if (inst.dst + count > isa::kAcc0) return false;
    LaneOp op{.lane = Lane::load_lds, .dst = static_cast<std::uint16_t>(inst.dst - isa::kVgpr0)};
    op.source[0] = *source_of(inst, inst.src[0]);
    std::optional<LaneOp> last;  // the one that replaces the address
    for (const std::uint32_t offset : offsets) {
        for (unsigned n = 0; n < dwords; ++n, ++op.dst) {
            op.offset_bytes = offset + 4 * n;
            if (op.source[0].is_vgpr(op.dst))
                last = op;
            else
                ops.push_back(op);
        }
    }
    if (last) ops.push_back(*last);
    return true;
}
bool load_one(const Inst& inst, unsigned dwords, std::vector<LaneOp>& ops) {
    return load(inst, dwords, {static_cast<std::uint32_t>(inst.offset) & 0xffff}, ops);
}
/// OFFSET0 and OFFSET1 count elements, or `stride` of them.
bool load_two(const Inst& inst, unsigned dwords, unsigned stride, std::vector<LaneOp>& ops) {
    const auto offsets = static_cast<std::uint32_t>(inst.offset);
    const std::uint32_t unit = 4 * dwords * stride;
    return load(inst, dwords, {(offsets & 0xff) * unit, (offsets >> 8 & 0xff) * unit}, ops);
}

/// GLOBAL_LOAD_DWORD and GLOBAL_STORE_DWORD. Those with GLC or SLC are for others to see in order.
bool global(const Inst& inst, Lane lane, std::vector<LaneOp>& ops) {
    if (inst.segment != isa::Segment::Global || (inst.flags & (isa::kLds | isa::kGlc | isa::kSlc)) != 0) return false;
    const bool based = inst.src[2] != isa::kNoOperand;
    if (based && !is_pair(inst.src[2])) return false;
    if (!is_vgpr(inst.src[0]) || (!based && inst.src[0] + 1 >= isa::kAcc0)) return false;
    LaneOp op{.lane = lane, .offset_bytes = static_cast<std::uint32_t>(inst.offset)};
    op.source[0] = *source_of(inst, inst.src[0]);
    if (based)
        op.base = inst.src[2];
    else
        op.source[1] = *source_of(inst, inst.src[0], true);
    const isa::Operand data = lane == Lane::load_global ? inst.dst : inst.src[1];
    if (!is_vgpr(data)) return false;
    if (lane == Lane::load_global)
        op.dst = static_cast<std::uint16_t>(data - isa::kVgpr0);
    else
        op.source[2] = *source_of(inst, data);
    ops.push_back(op);
    return true;
}

bool scalar(const Inst& inst, Scalar what, unsigned sources, std::vector<LaneOp>& ops) {
    if (inst.dst >= kSgprEnd) return false;
    LaneOp op{.lane = Lane::scalar, .code = static_cast<std::uint8_t>(what), .dst = inst.dst};
    for (unsigned n = 0; n < sources; ++n) {
        const auto source = source_of(inst, inst.src[n]);
        if (!source || source->kind == Source::Kind::vgpr) return false;
        op.source[n] = *source;
    }
    if (what == Scalar::move && op.source[0].kind == Source::Kind::number)
        op.code = static_cast<std::uint8_t>(Scalar::number);
    ops.push_back(op);
    return true;
}
bool scalar_load(const Inst& inst, std::uint8_t dwords, std::vector<LaneOp>& ops) {
    const bool offset_only = inst.has(isa::kImm) && inst.src[1] == isa::kNoOperand && !inst.has(isa::kGlc);
    if (!offset_only || inst.dst + dwords > kSgprEnd || !is_pair(inst.src[0])) return false;
    ops.push_back({.lane = Lane::scalar,
                   .code = static_cast<std::uint8_t>(Scalar::load),
                   .dst = inst.dst,
                   .offset_bytes = static_cast<std::uint32_t>(inst.offset),
                   .base = inst.src[0],
                   .dwords = dwords});
    return true;
}
/// The SGPR has this number from here on.
bool scalar_number(const Inst& inst, std::uint32_t number, std::vector<LaneOp>& ops) {
    if (inst.dst >= kSgprEnd) return false;
    LaneOp op{.lane = Lane::scalar, .code = static_cast<std::uint8_t>(Scalar::number), .dst = inst.dst};
    op.source[0] = {Source::Kind::number, 0, number};
    ops.push_back(op);
    return true;
}

}  // namespace

bool append_operations(const Inst& inst, const Shape& shape, std::vector<LaneOp>& ops) {
    if (inst.row >= isa::kRowCount) return false;
    const Entry& entry = entry_of(Op{inst.row});
    switch (entry.how) {
        case How::interpreted:
            return false;
        case How::nothing:
            return true;
        case How::lane:
            return one_operation(inst, entry, shape, ops);
        case How::packed:
            return packed(inst, entry.lane, entry.sources, ops);
        case How::packed_move:
            return packed_move(inst, ops);
        case How::wide_shift_left:
            return wide_shift_left(inst, ops);
        case How::scalar:
            return scalar(inst, entry.scalar, entry.sources, ops);
        case How::number:
            return scalar_number(inst, static_cast<std::uint32_t>(inst.offset), ops);
        case How::loads_scalar:
            return scalar_load(inst, entry.sources, ops);
        case How::loads_lds:
            return load_one(inst, entry.sources, ops);
        case How::loads_lds_twice:
            return load_two(inst, entry.sources, entry.code, ops);
        case How::global:
            return global(inst, entry.lane, ops);
    }
    return false;
}

}  // namespace kfdemu::jit
