// Reports registers that are used while a load may still be on its way to them, a missing or too weak s_waitcnt, and
// instructions that follow others without the wait states that the hardware does not insert, a missing s_nop.
//
//     WaitCheck check;
//     check.clear(target);                      // a new wave
//     check.before(scene, cache, wave, inst);   // each instruction
//
// Dynamic: it sees the instructions that execute and the lanes that are active. Thread safety: that of its wave.
#pragma once

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/flow/inst_cache.hpp"
#include "tools/kfdemu/check/flow/scene.hpp"
#include "tools/kfdemu/check/wait/hazards.hpp"
#include "tools/kfdemu/check/wait/scoreboard.hpp"

namespace kfdemu::check {

class WaitCheck {
  public:
    void clear(isa::Target target) {
        counters_ = Counters{target};
        board_.clear(counters_.most());
        hazards_.clear(target);
    }
    void before(const Scene& scene, InstCache& cache, const isa::Wave& wave, const isa::Inst& inst);

  private:
    Route route_of(const isa::Wave& wave, const isa::Inst& inst) const;
    Route route_of_flat(const isa::Wave& wave, const isa::Inst& inst) const;
    void use_registers(const Scene& scene, const RegisterUses& uses, const Route& route, const isa::Wave& wave,
                       const isa::Inst& inst);
    void report(const Scene& scene, const Load& load, const RegisterUse& use, const isa::Wave& wave,
                const isa::Inst& inst);

    static void report(const Scene& scene, const Hazard& hazard, const isa::Wave& wave, const isa::Inst& inst);

    Counters counters_{isa::Target{}};
    Scoreboard board_;
    Hazards hazards_;
};

}  // namespace kfdemu::check
