#include "tools/kfdemu/check/wait/matrix_hazards.hpp"

#include <algorithm>
#include <bit>

#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

MatrixKind kind_of(const Row& row, bool bytes = false) {
    if (is_op(row, Op::v_accvgpr_write_b32)) return MatrixKind::ToAccumulator;
    if (is_op(row, Op::v_accvgpr_read_b32)) return MatrixKind::FromAccumulator;
    const Matrix& matrix = row.shape.matrix;
    const bool deep = matrix.blocks == 1 && !bytes;
    switch (matrix.of) {
        case Matrix::Of::Double:
            return matrix.rows == 4 ? MatrixKind::DoublesBy4 : MatrixKind::DoublesBy16;
        case Matrix::Of::Single:
            return matrix.rows == 4    ? MatrixKind::SinglesBy4
                   : matrix.rows == 16 ? MatrixKind::SinglesBy16
                                       : MatrixKind::SinglesBy32;
        default:
            if (matrix.rows == 4) return MatrixKind::By4;
            if (matrix.rows == 16) return deep ? MatrixKind::By16Deep : MatrixKind::By16;
            return deep ? MatrixKind::By32Deep : MatrixKind::By32;
    }
}

/// Of formats, a factor of 8 bits takes as many passes as a product of several blocks.
MatrixKind kind_of(const Inst& inst) {
    const Row& row = rows()[inst.row];
    return kind_of(row, row.is(kMixedFormats) && (inst.abs < 2 || inst.neg < 2));
}

bool share(const RegisterUse& a, const RegisterUse& b) {
    return a.first < b.first + b.count && b.first < a.first + a.count;
}
RegisterUse vector_registers(isa::Operand first, Type type) {
    const bool vector = first >= kVgpr0 && first != kNoOperand;
    return {first, static_cast<std::uint8_t>(vector ? dwords(type) : 0)};
}

}  // namespace

unsigned states_after(const Row& earlier, const MatrixRule& rule) {
    return earlier.is(kMatrix) || earlier.is(kAccumulator) ? rule.after(kind_of(earlier)) : 0;
}

void MatrixHazards::push(const Inst& inst, std::uint64_t now, const Inst* hidden) {
    const Row& row = rows()[inst.row];
    past_[++last_ % kEntries] = {
        inst, now, kind_of(inst), vector_registers(inst.dst, row.dst),
        row.is(kSparse) ? vector_registers(inst.dst, row.dst) : vector_registers(inst.src[2], row.src[2])};
    size_ = std::min(size_ + 1, kEntries);
    hidden_until_ = hidden != nullptr ? now + 1 : 0;
    if (hidden != nullptr) hidden_ = *hidden;
}

const Hazard* MatrixHazards::search(const Inst& inst, unsigned rules, std::uint64_t now) {
    const Row& row = rows()[inst.row];
    found_ = {};
    if (row.is(kMatrix)) {
        for (unsigned n = 0; n < 3; ++n)
            check(vector_registers(inst.src[n], source_type(row, inst, n)),
                  n == 2 && !row.is(kSparse) ? Role::Addend : Role::Factor, rules, now);
        if (row.is(kSparse)) check(vector_registers(inst.dst, row.dst), Role::Addend, rules, now);
    } else {
        for (const RegisterUse& use : register_uses(inst))
            if (use.first >= kVgpr0) check(use, use.writes ? Role::Result : Role::Source, rules, now);
    }
    check({}, Role::None, rules, now);
    return found_.missing() != 0 ? &found_ : nullptr;
}

/// The last one that the rule is about.
const MatrixHazards::Past* MatrixHazards::find(const MatrixRule& rule, const RegisterUse& used,
                                               std::uint64_t now) const {
    for (unsigned n = 0; n < size_ && newest(n).states_until(now) < kMost; ++n) {
        const Past& past = newest(n);
        const RegisterUse& met = rule.meets == Meets::Addend ? past.addend : past.result;
        if (rule.meets == Meets::Anything ? rule.after(past.kind) == 0 : !share(met, used)) continue;
        const bool same = met.first == used.first && met.count == used.count;
        return rule.meets == (same ? Meets::PartOfResult : Meets::SameResult) ? nullptr : &past;
    }
    return nullptr;
}

void MatrixHazards::check(const RegisterUse& used, Role role, unsigned rules, std::uint64_t now) {
    for (; rules != 0; rules &= rules - 1) {
        const MatrixRule& rule = rules_[static_cast<unsigned>(std::countr_zero(rules))];
        if (rule.role != role) continue;
        if (rule.meets == Meets::Hidden)
            check_hidden(rule, used, now);
        else if (const Past* past = find(rule, used, now))
            consider(past->inst, rule.after(past->kind), past->states_until(now));
    }
}

void MatrixHazards::check_hidden(const MatrixRule& rule, const RegisterUse& used, std::uint64_t now) {
    if (now != hidden_until_) return;
    for (const RegisterUse& use : register_uses(hidden_))
        if (use.writes && share(use, used)) consider(hidden_, rule.after(newest(0).kind), 1);
}

void MatrixHazards::consider(const Inst& earlier, unsigned needed, std::uint64_t states) {
    if (needed > states && needed - states > found_.missing())
        found_ = {earlier, needed, static_cast<unsigned>(states)};
}

}  // namespace kfdemu::check
