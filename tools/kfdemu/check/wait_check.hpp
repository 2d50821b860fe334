// Reports registers that are used while a load may still be on its way to them: a missing or too weak s_waitcnt.
//
//     WaitCheck check;
//     check.clear();                            // a new wave
//     check.before(scene, uses, wave, inst);    // each instruction
//
// Dynamic: it sees the instructions that execute and the lanes that are active. Thread safety: that of its wave.
#pragma once

#include "access.hpp"
#include "inst_cache.hpp"
#include "scene.hpp"
#include "scoreboard.hpp"

namespace kfdemu::check {

class WaitCheck {
  public:
    void clear() { board_.clear(); }
    /// Whether before() has anything to do.
    bool wants(const gfx9::Inst& inst) const { return !board_.empty() || may_access(inst.format); }
    void before(const Scene& scene, InstCache& cache, const gfx9::Wave& wave, const gfx9::Inst& inst);

  private:
    void use_registers(const Scene& scene, const RegisterUses& uses, const Route& route, const gfx9::Wave& wave,
                       const gfx9::Inst& inst);
    void report(const Scene& scene, const Load& load, const RegisterUse& use, const gfx9::Wave& wave,
                const gfx9::Inst& inst);

    Scoreboard board_;
};

}  // namespace kfdemu::check
