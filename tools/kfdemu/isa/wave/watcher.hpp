// Sees the instructions of a wave, for checkers.
//
//     wave.watcher = &checker;      // null: run() does not look at it again
//     run(wave, budget);            // calls checker.before(wave, inst) for each instruction
//
// Thread safety: called by the thread that runs the wave. A watched wave is slower, an unwatched one is not.
#pragma once

#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {

class Watcher {
  public:
    virtual ~Watcher() = default;
    /// `inst` is about to execute; the wave holds its sources. With GPR indexing on, `inst` is a copy that names the
    /// indexed registers. Instructions that VSKIP skips are not seen.
    virtual void before(const Wave& wave, const Inst& inst) noexcept = 0;
};

}  // namespace kfdemu::isa
