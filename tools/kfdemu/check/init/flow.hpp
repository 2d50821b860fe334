// One instruction that undefined bits flow through, and where they may be.
//
//     Flow flow{scene, shared, own, wave, inst};
//     const Undefined u = flow.read(inst.src[0], lane);        // with its origin
//     flow.report(kAddress, "an address depends on", u.origin, lane);
//
// Thread safety: that of its work-group.
#pragma once

#include "tools/kfdemu/check/flow/scene.hpp"
#include "tools/kfdemu/check/init/defined_memory.hpp"
#include "tools/kfdemu/check/init/defined_registers.hpp"
#include "tools/kfdemu/check/init/fresh_memory.hpp"
#include "tools/kfdemu/check/init/origins.hpp"
#include "tools/kfdemu/check/init/shadow_wave.hpp"
#include "tools/kfdemu/check/init/undefined_bits.hpp"

namespace kfdemu::check {

/// What the waves of a work-group share.
struct GroupShadow {
    DefinedMemory lds;
    FreshMemory memory;
    Origins origins;
    ShadowWave wave;
};
/// What each wave has.
struct WaveShadow {
    DefinedRegisters registers;
    DefinedMemory scratch;
    Origin scales = 0;  ///< where undefined scales of the next matrix product come from
};

/// A value and its undefined bits, up to 64 of them.
struct Value {
    Bits bits;
    Origin origin = 0;
};

inline constexpr const char *kAddress = "address", *kBranchRule = "branch", *kExecRule = "exec", *kStored = "stored";

struct Flow {
    const Scene& scene;
    GroupShadow& shared;
    WaveShadow& own;
    const isa::Wave& wave;
    const isa::Inst& inst;
    const isa::Inst* dual = nullptr;  ///< the VOPD that `inst` is an operation of

    isa::Op op() const { return static_cast<isa::Op>(inst.row); }
    const isa::Row& row() const { return isa::rows()[inst.row]; }

    /// A register of one lane: its undefined bits; if nothing has read it yet, this instruction is its first reader.
    Undefined read(isa::Operand operand, unsigned lane) const;
    /// A scalar operand of one or two dwords.
    Value read_scalar(isa::Operand operand, unsigned dwords) const;
    /// Reports if it is EXEC.
    void write_scalar(isa::Operand operand, unsigned dwords, const Value& value) const;
    void write_exec(const Value& value) const;
    /// What is relative to M0 depends on it: M0 is reported and then taken to be defined.
    void judge_m0() const;

    /// The sentence ends with the origin: "a branch depends on" v2.
    /// `saves`: as a register is saved on GCC's stack.
    void report(const char* rule, const std::string& what, Origin origin, unsigned lane, bool saves = false) const;
};

}  // namespace kfdemu::check
