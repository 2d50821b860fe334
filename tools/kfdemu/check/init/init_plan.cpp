#include "tools/kfdemu/check/init/init_plan.hpp"

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/init/scalar_flow.hpp"
#include "tools/kfdemu/check/init/vector_flow.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

InitPlan::Kind kind_of(Format format) {
    switch (format) {
        case Format::Sop1:
        case Format::Sop2:
        case Format::Sopc:
        case Format::Sopk:
        case Format::Sopp:
            return InitPlan::Scalar;
        case Format::Vop3p:
            return InitPlan::Packed;
        default:
            return may_access(format) ? InitPlan::Memory : InitPlan::Vector;
    }
}

bool is_global(const Inst& inst) {
    return inst.format == Format::Smem || (inst.format == Format::Flat && inst.segment == Segment::Global);
}

/// FLAT_SCRATCH only matters to FLAT instructions with an address in the private aperture.
bool counts(const Inst& inst, const RegisterUse& use) {
    return use.first != kFlatScratch || inst.format != Format::Flat || inst.segment != Segment::Flat;
}

enum class Part { ReadScalars, ReadVectors, Written };

void collect(InitPlan& plan, const Inst& inst, const RegisterUses& uses, Part part) {
    for (const RegisterUse& use : uses) {
        const bool scalar = use.first < kConstants;
        if (use.writes != (part == Part::Written) || !counts(inst, use)) continue;
        if (part != Part::Written && scalar != (part == Part::ReadScalars)) continue;
        plan.runs[plan.count++] = {DefinedRegisters::number(use.first), use.count};
        if (use.lanes != LaneUse::Active) (use.writes ? plan.writes_all : plan.all_lanes) = true;
    }
}

}  // namespace

InitPlan InitPlans::make(const Inst& inst) {
    const RegisterUses uses = register_uses(inst);
    const Row& row = rows()[inst.row];
    InitPlan plan;
    plan.kind = kind_of(inst.format);
    collect(plan, inst, uses, Part::ReadScalars);
    plan.first_vector = plan.count;
    collect(plan, inst, uses, Part::ReadVectors);
    plan.first_written = plan.count;
    collect(plan, inst, uses, Part::Written);
    // Those that name registers indirectly, or may keep their destination, are looked at even if what they name is
    // defined.
    plan.always = row.is(kMovesFrom) || row.is(kMovesTo) || (row.is(kReadsScc) && row.is(kReadsDst)) ||
                  (row.is(kNamedLane) && row.dst != Type::s32);
    plan.all_lanes |= inst.moves_lanes() || (inst.format == Format::Ds && !accesses_memory(inst));
    plan.keeps_parts = keeps_parts(inst);
    plan.only_memory = is_global(inst) && accesses_memory(inst) && !inst.has(kLds);
    plan.loads = plan.only_memory && !row.is(kStore);
    plan.only_lds = inst.format == Format::Ds && accesses_memory(inst) && !inst.has(kLds);
    return plan;
}

}  // namespace kfdemu::check
