// Which bits of a wave's registers were written: VGPRs and AccVGPRs by lane, SGPRs, SCC.
//
//     registers.begin(initial);
//     if (registers.undefined_lanes(kVgpr0 + 1) & exec) …               // cheap: one word for each register
//     registers.set(kVgpr0 + 1, lane, undefined_bits, origin);
//
// EXEC, constants and trap-handler registers are always defined. Thread safety: that of its wave.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tools/kfdemu/check/init/origins.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {

/// The registers that are set when a wave starts; all others are undefined.
struct InitialRegisters {
    std::uint32_t user_sgprs = 0;  ///< s0 and following
    std::uint32_t first_system_sgpr = 0, system_sgprs = 0;
    bool flat_scratch = false;          ///< FLAT_SCRATCH, too
    bool xnack_mask = true;             ///< XNACK_MASK is not an SGPR like others
    bool group_id_yz = true;            ///< TTMP7 has the work-group's
    unsigned lanes = isa::kMostLanes;   ///< of the wave
    std::uint32_t vgprs = 0;            ///< v0 and following
    std::uint32_t allocated_vgprs = 0;  ///< others do not exist
};

/// Undefined bits, and where the first of them come from.
struct Undefined {
    std::uint32_t bits = 0;
    Origin origin = 0;
};

class DefinedRegisters {
  public:
    DefinedRegisters();
    void begin(const InitialRegisters& initial);

    /// The lanes with undefined bits; all or none for an SGPR.
    std::uint64_t undefined_lanes(isa::Operand operand) const {
        return operand >= isa::kConstants && operand < isa::kVgpr0 ? 0 : undefined_[number(operand)];
    }
    Undefined at(isa::Operand operand, unsigned lane) const;
    void set(isa::Operand operand, unsigned lane, Undefined what);
    /// Whole registers in these lanes; an SGPR whatever they are.
    void define(isa::Operand operand, std::uint64_t lanes) {
        if (operand >= isa::kConstants && operand < isa::kVgpr0) return;
        define_number(number(operand), lanes);
    }

    Undefined scc;  ///< bit 0

    /// The number of a register, for the functions that take one: SGPRs first, 128 of them.
    static std::uint16_t number(isa::Operand operand) {
        return static_cast<std::uint16_t>(operand < isa::kConstants ? operand : operand - isa::kVgpr0 + kScalars);
    }
    std::uint64_t undefined(unsigned number) const { return undefined_[number]; }
    void define_number(unsigned number, std::uint64_t lanes) {
        if (number < kScalars) lanes = ~std::uint64_t{0};
        undefined_[number] &= ~lanes;
        never_[number] &= ~lanes;
    }

  private:
    static constexpr unsigned kScalars = 128, kVectors = 512, kPadding = 32;

    // The details of a lane are valid if its bit in `undefined_` is set, and its bit in `never_` is not.
    std::array<std::uint64_t, kScalars + kVectors + kPadding> undefined_{}, never_{};
    unsigned allocated_ = 0;
    std::array<Undefined, kScalars> scalars_{};
    std::vector<Undefined> vectors_;
};

}  // namespace kfdemu::check
