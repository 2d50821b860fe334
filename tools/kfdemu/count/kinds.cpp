#include "tools/kfdemu/count/kinds.hpp"

#include <algorithm>
#include <array>

#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::count {
namespace {

using isa::Format;
using isa::index;
using isa::Op;

constexpr std::array<const char*, kKinds> kNames = {"salu", "valu", "matrix", "smem",   "vmem-load", "vmem-store",
                                                    "flat", "lds",  "atomic", "branch", "barrier",   "other"};

bool is_jump(const isa::Inst& inst) {
    return isa::rows()[inst.row].is(isa::kJump) || (inst.format == Format::Sopp && inst.has(isa::kBranch));
}

/// The first half of a barrier, too. Those of SOPP have a format that is counted as the other kind.
bool is_wait(const isa::Inst& inst) {
    constexpr Op kWaits[] = {Op::s_waitcnt_vscnt,   Op::s_waitcnt_vmcnt,  Op::s_waitcnt_expcnt,
                             Op::s_waitcnt_lgkmcnt, Op::s_barrier_signal, Op::s_barrier_signal_isfirst};
    return std::ranges::any_of(kWaits, [&](Op op) { return inst.row == index(op); });
}

/// buffer_wbinvl1 and the like access nothing.
Kind vector_memory(const isa::Inst& inst, const isa::Row& row) {
    if (row.dst == isa::Type::none && row.src[1] == isa::Type::none && !row.is(isa::kStore)) return Kind::Other;
    if (inst.format == Format::Flat && inst.segment == isa::Segment::Flat) return Kind::Flat;
    return row.is(isa::kStore) ? Kind::VmemStore : Kind::VmemLoad;
}

}  // namespace

const char* name(Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Kind kind_of(const isa::Inst& inst) {
    const isa::Row& row = isa::rows()[inst.row];
    if (is_jump(inst)) return Kind::Branch;
    if (inst.row == index(Op::s_barrier) || inst.row == index(Op::s_barrier_wait)) return Kind::Barrier;
    if (row.is(isa::kAtomic)) return Kind::Atomic;
    switch (inst.format) {
        case Format::Sop2:
        case Format::Sopc:
            return Kind::Salu;
        case Format::Sop1:
        case Format::Sopk:
            return is_wait(inst) ? Kind::Other : Kind::Salu;
        case Format::Smem:
            return Kind::Smem;
        case Format::Vop1:
        case Format::Vop2:
        case Format::Vopc:
        case Format::Vop3:
        case Format::Vop3p:
        case Format::Vopd:
            return row.is(isa::kMatrix) || row.multiplies_tiles() ? Kind::Matrix : Kind::Valu;
        case Format::Ds:
            return row.is(isa::kGws) ? Kind::Other : Kind::Lds;
        case Format::Flat:
        case Format::Mubuf:
        case Format::Mtbuf:
            return vector_memory(inst, row);
        default:
            return Kind::Other;
    }
}

bool is_vector(const isa::Inst& inst) {
    if (inst.format == Format::Smem) return false;  // its atomics
    const Kind kind = kind_of(inst);
    return kind == Kind::Valu || kind == Kind::Matrix || kind == Kind::VmemLoad || kind == Kind::VmemStore ||
           kind == Kind::Flat || kind == Kind::Lds || kind == Kind::Atomic;
}

bool is_taken(const isa::Wave& w, const isa::Inst& inst) {
    [[maybe_unused]] const bool scc = w.scc;
    switch (static_cast<Op>(inst.row)) {
#define SOPP(...)
#define SOPP_BRANCH(op, name, on, attributes, ...) \
    case Op::name:                                 \
        return __VA_ARGS__;
#include "tools/kfdemu/isa/rows/sopp.inc"
#undef SOPP
#undef SOPP_BRANCH
        default: {
            const isa::Row& row = isa::rows()[inst.row];
            return row.is(isa::kJump) && !row.is(isa::kWritesExec);  // forks and joins are not known
        }
    }
}

}  // namespace kfdemu::count
