// The registers that an instruction reads and writes.
//
//     const RegisterUses uses = register_uses(inst);
//     for (const RegisterUse& use : uses) if (use.writes) …
//
// Implicit operands are included: VCC of carries and comparisons, FLAT_SCRATCH of FLAT and SCRATCH. SCC, EXEC and
// MODE are not: no load writes them. What is relative to M0 is the register that M0 = 0 selects. Pure. Source: "Vega"
// ISA manual, chapter "Microcode Formats".
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::check {

/// Which lanes of a vector register an instruction uses.
enum class LaneUse : std::uint8_t {
    Active,  ///< those in EXEC
    First,   ///< the first in EXEC, or lane 0: v_readfirstlane
    Named,   ///< the one that src[1] names: v_readlane, v_writelane
    Moved,   ///< those that lanes in EXEC read, in EXEC or not: DPP with FI
    All,     ///< regardless of EXEC: matrix instructions
};

struct RegisterUse {
    isa::Operand first = 0;  ///< below 128 an SGPR, from kVgpr0 a VGPR, from kAcc0 an AccVGPR
    std::uint8_t count = 0;  ///< of dwords
    bool writes = false;
    LaneUse lanes = LaneUse::Active;
};

class RegisterUses {
  public:
    const RegisterUse* begin() const { return uses_.data(); }
    const RegisterUse* end() const { return uses_.data() + size_; }
    void add(isa::Operand first, unsigned count, bool writes, LaneUse lanes = LaneUse::Active);

  private:
    std::array<RegisterUse, 12> uses_{};
    std::uint8_t size_ = 0;
};

RegisterUses register_uses(const isa::Inst& inst);

/// The registers that an outstanding memory instruction will write: `count` is 0 if it returns nothing.
RegisterUse loaded_registers(const isa::Inst& inst);

/// Of rows that are kMovesFrom or kMovesTo: with the registers that M0 selects, as far as there are any.
isa::Inst moved_by_m0(const isa::Inst& inst, std::uint32_t m0);

/// "v5", "v[2:3]", "s[4:7]", "vcc", "a0".
std::string register_name(isa::Target target, isa::Operand first, unsigned count);

}  // namespace kfdemu::check
