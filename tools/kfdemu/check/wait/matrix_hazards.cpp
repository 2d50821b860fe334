// The numbers are those that LLVM inserts (lib/Target/AMDGPU/GCNHazardRecognizer.cpp: checkMAIHazards908,
// checkMAIHazards90A, checkMAILdStHazards, checkMAIVALUHazards; passes: SISchedule.td). As there, an operand depends on
// the last matrix instruction that wrote its registers, since they finish in order, and an instruction in between gives
// one state, however long it takes.
//
// Where LLVM inserts more than a rule says, the rule counts: on gfx908, it takes the passes of the longest matrix
// instruction on its way back instead of those of the one that wrote, and has a v_accvgpr_write wait for another one.
// Two matrix instructions that write the same registers need nothing.
#include "matrix_hazards.hpp"

#include <algorithm>

#include "../../isa/wave/wave.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

bool is_memory(const Row& row) { return is_vector_memory(row) || row.format == Format::Ds; }
bool fuses_doubles(const Row& row) { return is_op(row, Op::v_fma_f64) || is_op(row, Op::v_fmac_f64); }
bool of_doubles(MatrixKind kind) { return kind == MatrixKind::DoublesBy4 || kind == MatrixKind::DoublesBy16; }

MatrixKind kind_of(const Row& row) {
    if (is_op(row, Op::v_accvgpr_write_b32)) return MatrixKind::ToAccumulator;
    if (is_op(row, Op::v_accvgpr_read_b32)) return MatrixKind::FromAccumulator;
    const Matrix& matrix = row.shape.matrix;
    const bool doubles = matrix.of == Matrix::Of::Double;
    if (matrix.rows == 4) return doubles ? MatrixKind::DoublesBy4 : MatrixKind::By4;
    if (matrix.rows == 16) return doubles ? MatrixKind::DoublesBy16 : MatrixKind::By16;
    return MatrixKind::By32;
}

/// Wait states until the result may be used, by what does it how.
struct Needs {
    std::uint8_t factor, addend, addend_of_doubles;  // a matrix instruction reads it; the addend: in part
    std::uint8_t vector, memory;                     // another one reads it
    std::uint8_t overwrite;                          // another one writes it
    std::uint8_t overwrite_addend;                   // another one writes what was the addend
};
constexpr Needs kOn908[] = {
    {4, 2, 0, 4, 0, 1, 0},     // By4
    {4, 2, 0, 10, 0, 7, 5},    // By16
    {4, 2, 0, 18, 0, 15, 13},  // By32
    {},
    {},
    {3, 1, 0, 3, 0, 0, 0},  // ToAccumulator
    {0, 0, 0, 0, 2, 0, 0},  // FromAccumulator
};
constexpr Needs kOn90a[] = {
    {5, 2, 3, 5, 5, 5, 1},         // By4
    {11, 8, 9, 11, 11, 11, 7},     // By16
    {19, 16, 17, 19, 19, 19, 15},  // By32
    {6, 0, 4, 6, 9, 6, 0},         // DoublesBy4
    {11, 0, 9, 11, 18, 11, 0},     // DoublesBy16
};
const Needs& needs_of(Target target, MatrixKind kind) {
    return (target == Target::gfx908 ? kOn908 : kOn90a)[static_cast<unsigned>(kind)];
}

constexpr unsigned kAddendOfDoublesBy4 = 4;  // the same registers, from one of that size to another
constexpr unsigned kFusedAfterDoubles = 2;   // whatever the registers
constexpr unsigned kMemoryAfterVector = 2;   // which the hardware inserts itself, unless it does not see the vector one

bool share(const RegisterUse& a, const RegisterUse& b) {
    return a.first < b.first + b.count && b.first < a.first + a.count;
}
RegisterUse vector_registers(isa::Operand first, Type type) {
    const bool vector = first >= kVgpr0 && first != kNoOperand;
    return {first, static_cast<std::uint8_t>(vector ? dwords(type) : 0)};
}

}  // namespace

bool MatrixHazards::is_earlier(Target target, const Row& row) {
    if (target == Target::gfx90a) return row.is(kMatrix);
    return target == Target::gfx908 && (row.is(kMatrix) || row.is(kAccumulator));
}

bool MatrixHazards::is_later(Target target, const Row& row) {
    if (target != Target::gfx908 && target != Target::gfx90a) return false;
    return is_earlier(target, row) || is_memory(row) || (target == Target::gfx90a && is_valu(row));
}

void MatrixHazards::push(const Inst& inst, std::uint64_t now, const Inst* before) {
    const Row& row = rows()[inst.row];
    const MatrixKind kind = kind_of(row);
    past_[++last_ % kEntries] = {inst, now, kind, vector_registers(inst.dst, row.dst),
                                 vector_registers(inst.src[2], row.src[2])};
    size_ = std::min(size_ + 1, kEntries);
    const bool hides = target_ == Target::gfx908 ? row.is(kAccumulator) : of_doubles(kind);
    hidden_until_ = hides && before != nullptr && !is_earlier(target_, rows()[before->row]) ? now + 1 : 0;
    if (hidden_until_ != 0) hidden_ = *before;
}

const Hazard* MatrixHazards::search(const Inst& inst, std::uint64_t now) {
    const Row& row = rows()[inst.row];
    found_ = {};
    if (row.is(kMatrix)) {
        for (unsigned n = 0; n < 3; ++n)
            check(inst, vector_registers(inst.src[n], row.src[n]), n == 2 ? Role::Addend : Role::Factor, now);
    } else {
        const Role source = is_memory(row) ? Role::MemorySource : Role::VectorSource;
        for (const RegisterUse& use : register_uses(inst))
            if (use.first >= kVgpr0) check(inst, use, use.writes ? Role::Result : source, now);
    }
    if (fuses_doubles(row))
        if (const Past* past = find(now, [](const Past& p) { return of_doubles(p.kind); }))
            consider(past->inst, kFusedAfterDoubles, past->states_until(now));
    return found_.missing() != 0 ? &found_ : nullptr;
}

/// The last one for which `is` holds.
template <class Is>
const MatrixHazards::Past* MatrixHazards::find(std::uint64_t now, Is&& is) const {
    for (unsigned n = 0; n < size_ && newest(n).states_until(now) < kMost; ++n)
        if (is(newest(n))) return &newest(n);
    return nullptr;
}

unsigned MatrixHazards::needed(const Past& past, const RegisterUse& used, Role role, const Inst& later) const {
    const Needs& needs = needs_of(target_, past.kind);
    const bool same = past.result.first == used.first && past.result.count == used.count;
    switch (role) {
        case Role::Factor:
            return needs.factor;
        case Role::Addend: {
            const MatrixKind kind = kind_of(rows()[later.row]);
            const bool by4 = past.kind == MatrixKind::DoublesBy4 && kind == MatrixKind::DoublesBy4;
            if (same) return by4 ? kAddendOfDoublesBy4 : 0;  // forwarded
            return of_doubles(kind) ? needs.addend_of_doubles : needs.addend;
        }
        case Role::VectorSource:
            return needs.vector;
        case Role::MemorySource:
            return needs.memory;
        default:
            return needs.overwrite;
    }
}

void MatrixHazards::check(const Inst& inst, const RegisterUse& used, Role role, std::uint64_t now) {
    if (const Past* past = find(now, [&](const Past& p) { return share(p.result, used); }))
        consider(past->inst, needed(*past, used, role, inst), past->states_until(now));
    if (role == Role::MemorySource) check_hidden(used, now);
    if (role != Role::Result) return;
    if (const Past* past = find(now, [&](const Past& p) { return share(p.addend, used); }))
        consider(past->inst, needs_of(target_, past->kind).overwrite_addend, past->states_until(now));
}

void MatrixHazards::check_hidden(const RegisterUse& used, std::uint64_t now) {
    if (now != hidden_until_) return;
    for (const RegisterUse& use : register_uses(hidden_))
        if (use.writes && share(use, used)) consider(hidden_, kMemoryAfterVector, 1);
}

void MatrixHazards::consider(const Inst& earlier, unsigned needed, std::uint64_t states) {
    if (needed > states && needed - states > found_.missing())
        found_ = {earlier, needed, static_cast<unsigned>(states)};
}

}  // namespace kfdemu::check
