// A wave that executes instructions on undefined bits instead of values.
//
//     shadow.prepare(wave);                                   // its EXEC, MODE and lanes
//     std::copy_n(bits, shadow.width(), shadow.lanes(0));
//     Inst moved = inst;  moved.src[0] = ShadowWave::operand(0);  moved.dst = ShadowWave::operand(1);
//     shadow.run(moved, Op::v_mov_b32);                       // undefined bits move as values would
//
// For instructions that only move: DPP, SDWA, permutes; and for matrices, whose layout it need not know. Thread safety:
// that of its work-group; run() keeps the CPU's floating-point modes.
#pragma once

#include <vector>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {

class ShadowWave {
  public:
    ShadowWave();

    void prepare(const isa::Wave& wave);
    /// Lanes of the wave that it was prepared for.
    unsigned width() const { return wave_.width; }
    std::uint32_t* lanes(unsigned n) { return wave_.lanes(operand(n)); }
    static isa::Operand operand(unsigned n) { return static_cast<isa::Operand>(isa::kVgpr0 + n); }
    /// An SGPR with that value, for an operand of run().
    isa::Operand scalar(unsigned n, std::uint64_t value) {
        wave_.s[n] = static_cast<std::uint32_t>(value);
        return static_cast<isa::Operand>(n);
    }
    /// Executes `inst` as `op`, with its modifiers. Its operands must be registers of this wave.
    void run(const isa::Inst& inst, isa::Op op);

  private:
    std::vector<isa::Lanes> registers_;
    isa::Wave wave_{};
};

}  // namespace kfdemu::check
