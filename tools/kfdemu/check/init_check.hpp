// Reports values that were never written where they matter: as an address, as the condition of a branch, in EXEC, or
// stored to memory that others read. Reading them is not an error.
//
//     InitCheck check;                                 // one for a wave
//     check.begin(scene);
//     check.before(scene, shared, cache, wave, inst);    // each instruction
//
// Bits of registers, LDS and scratch are followed one by one; memory is taken to be defined. Thread safety: that of its
// work-group.
#pragma once

#include "flow.hpp"
#include "inst_cache.hpp"

namespace kfdemu::check {

class InitCheck {
  public:
    void begin(const Scene& scene);
    void before(const Scene& scene, GroupShadow& shared, InstCache& cache, const gfx9::Wave& wave,
                const gfx9::Inst& inst);

  private:
    bool reads_undefined(const RegisterUses& uses, const gfx9::Wave& wave, const gfx9::Inst& inst) const;
    void define_written(const RegisterUses& uses, const gfx9::Wave& wave, const gfx9::Inst& inst);

    WaveShadow own_;
};

}  // namespace kfdemu::check
