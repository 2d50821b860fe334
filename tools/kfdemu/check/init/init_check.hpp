// Reports values that were never written where they matter: as an address, as the condition of a branch, in EXEC, or
// stored to memory that others read. Reading them is not an error.
//
//     InitCheck check;                                 // one for a wave
//     check.begin(scene);
//     check.before(scene, shared, plans, wave, inst);    // each instruction
//
// Bits of registers, LDS and scratch are followed one by one; device memory is undefined until something writes it, see
// fresh_memory.hpp. Thread safety: that of its work-group.
#pragma once

#include "tools/kfdemu/check/init/flow.hpp"
#include "tools/kfdemu/check/init/init_plan.hpp"

namespace kfdemu::check {

class InitCheck {
  public:
    void begin(const Scene& scene);
    void before(const Scene& scene, GroupShadow& shared, InitPlans& plans, const isa::Wave& wave,
                const isa::Inst& inst);

  private:
    bool is_defined(const InitPlan& plan, const GroupShadow& shared, std::uint64_t exec) const;
    static void flow(const InitPlan& plan, const Flow& flow);

    WaveShadow own_;
    bool fresh_memory_ = false;
};

}  // namespace kfdemu::check
