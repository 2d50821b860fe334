#include "init_check.hpp"

#include "memory_flow.hpp"
#include "scalar_flow.hpp"
#include "vector_flow.hpp"

namespace kfdemu::check {
namespace {

using namespace gfx9;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

bool is_scalar(Format format) {
    return format == Format::Sop1 || format == Format::Sop2 || format == Format::Sopc || format == Format::Sopk ||
           format == Format::Sopp;
}

/// The lanes of a register that a source is read from.
std::uint64_t lanes_of(const RegisterUse& use, const Wave& wave, const Inst& inst) {
    const bool moves = inst.form == Form::Dpp || use.first < kConstants || use.lanes != LaneUse::Active;
    return moves ? kAll : wave.exec();
}

}  // namespace

void InitCheck::begin(const Scene& scene) {
    own_.registers.begin(scene.initial);
    own_.scratch.begin(kLanes, scene.lane_scratch_bytes);
}

bool InitCheck::reads_undefined(const RegisterUses& uses, const Wave& wave, const Inst& inst) const {
    std::uint64_t found = 0;
    for (const RegisterUse& use : uses) {
        if (use.writes) continue;
        std::uint64_t any = 0;
        for (unsigned n = 0; n < use.count; ++n)
            any |= own_.registers.undefined_lanes(static_cast<Operand>(use.first + n));
        found |= any & lanes_of(use, wave, inst);
    }
    return found != 0;
}

void InitCheck::define_written(const RegisterUses& uses, const Wave& wave, const Inst& inst) {
    for (const RegisterUse& use : uses) {
        if (!use.writes) continue;
        std::uint64_t lanes = use.lanes == LaneUse::All ? kAll : wave.exec();
        if (use.lanes == LaneUse::Named) lanes = std::uint64_t{1} << (wave.s[inst.src[1]] & 63);
        for (unsigned n = 0; n < use.count; ++n) own_.registers.define(static_cast<Operand>(use.first + n), lanes);
    }
}

void InitCheck::before(const Scene& scene, GroupShadow& shared, InstCache& cache, const Wave& wave, const Inst& inst) {
    const Flow flow{scene, shared, own_, wave, inst};
    if (may_access(inst.format)) return MemoryFlow{flow}.run();
    const RegisterUses& uses = cache.uses(inst);
    const Op op = flow.op();
    const bool scalar = is_scalar(inst.format);
    const bool looks = reads_undefined(uses, wave, inst) ||
                       (scalar ? own_.registers.scc.bits != 0 || is_indirect(op) : keeps_parts(inst));
    if (!looks) return define_written(uses, wave, inst);
    if (scalar) return flow_scalar(flow);
    if (inst.format == Format::Vop3p) return flow_packed(flow);
    flow_vector(flow);
}

}  // namespace kfdemu::check
