#include "kinds.hpp"

#include <array>

#include "../isa/rows/row.hpp"

namespace kfdemu::count {
namespace {

using isa::Format;
using isa::index;
using isa::Op;

constexpr std::array<const char*, kKinds> kNames = {"salu", "valu", "matrix", "smem",   "vmem-load", "vmem-store",
                                                    "flat", "lds",  "atomic", "branch", "barrier",   "other"};

bool is_jump(const isa::Inst& inst) {
    switch (static_cast<Op>(inst.row)) {
        case Op::s_setpc_b64:
        case Op::s_swappc_b64:
        case Op::s_call_b64:
        case Op::s_cbranch_join:
        case Op::s_cbranch_g_fork:
        case Op::s_cbranch_i_fork:
            return true;
        default:
            return inst.format == Format::Sopp && inst.has(isa::kBranch);
    }
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
    if (inst.row == index(Op::s_barrier)) return Kind::Barrier;
    if (row.is(isa::kAtomic)) return Kind::Atomic;
    switch (inst.format) {
        case Format::Sop1:
        case Format::Sop2:
        case Format::Sopc:
        case Format::Sopk:
            return Kind::Salu;
        case Format::Smem:
            return Kind::Smem;
        case Format::Vop1:
        case Format::Vop2:
        case Format::Vopc:
        case Format::Vop3:
        case Format::Vop3p:
            return row.is(isa::kMatrix) ? Kind::Matrix : Kind::Valu;
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

bool is_taken(const isa::Wave& wave, const isa::Inst& inst) {
    switch (static_cast<Op>(inst.row)) {
        case Op::s_cbranch_scc0:
            return !wave.scc;
        case Op::s_cbranch_scc1:
            return wave.scc;
        case Op::s_cbranch_vccz:
            return wave.s64(isa::kVcc) == 0;
        case Op::s_cbranch_vccnz:
            return wave.s64(isa::kVcc) != 0;
        case Op::s_cbranch_execz:
            return wave.exec() == 0;
        case Op::s_cbranch_execnz:
            return wave.exec() != 0;
        case Op::s_branch:
        case Op::s_setpc_b64:
        case Op::s_swappc_b64:
        case Op::s_call_b64:
            return true;
        default:
            return false;
    }
}

}  // namespace kfdemu::count
