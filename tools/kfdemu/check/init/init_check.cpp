#include "tools/kfdemu/check/init/init_check.hpp"

#include "tools/kfdemu/check/init/memory_flow.hpp"
#include "tools/kfdemu/check/init/scalar_flow.hpp"
#include "tools/kfdemu/check/init/vector_flow.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// The union of the undefined lanes of all registers of the runs.
std::uint64_t undefined(const DefinedRegisters& registers, const InitPlan::Run* first, const InitPlan::Run* end) {
    std::uint64_t all = 0;
    for (; first != end; ++first)
        for (unsigned n = 0; n < first->count; ++n) all |= registers.undefined(first->number + n);
    return all;
}

}  // namespace

void InitCheck::begin(const Scene& scene) {
    own_.registers.begin(scene.initial);
    fresh_memory_ = scene.session.fresh_memory;
    own_.scratch.begin(kMostLanes, scene.lane_scratch_bytes);
    own_.scales = 0;
}

/// Whether all that the instruction reads is defined, and all of what it writes will be.
bool InitCheck::is_defined(const InitPlan& plan, const GroupShadow& shared, std::uint64_t exec) const {
    const DefinedRegisters& registers = own_.registers;
    if (plan.always || own_.scales != 0) return false;
    if (undefined(registers, plan.scalars(), plan.vectors()) != 0) return false;
    const std::uint64_t lanes = plan.all_lanes ? kAll : exec;
    if ((undefined(registers, plan.vectors(), plan.written()) & lanes) != 0) return false;
    if (plan.kind == InitPlan::Scalar) return registers.scc.bits == 0;
    if (plan.kind == InitPlan::Memory) {
        const bool skips = plan.only_memory ? !(plan.loads && fresh_memory_) : plan.only_lds && !shared.lds.any();
        if (!skips) return false;
    }
    return !plan.keeps_parts || undefined(registers, plan.written(), plan.end()) == 0;
}

void InitCheck::before(const Scene& scene, GroupShadow& shared, InitPlans& plans, const Wave& wave, const Inst& inst) {
    const InitPlan& plan = plans.of(inst);
    if (!is_defined(plan, shared, wave.exec())) return flow(plan, {scene, shared, own_, wave, inst});
    const std::uint64_t lanes = plan.writes_all ? kAll : wave.exec();
    for (const InitPlan::Run* run = plan.written(); run != plan.end(); ++run)
        for (unsigned n = 0; n < run->count; ++n) own_.registers.define_number(run->number + n, lanes);
}

void InitCheck::flow(const InitPlan& plan, const Flow& flow) {
    switch (plan.kind) {
        case InitPlan::Scalar:
            return flow_scalar(flow);
        case InitPlan::Vector:
            return flow_vector(flow);
        case InitPlan::Packed:
            return flow_packed(flow);
        case InitPlan::Memory:
            return MemoryFlow{flow}.run();
    }
}

}  // namespace kfdemu::check
