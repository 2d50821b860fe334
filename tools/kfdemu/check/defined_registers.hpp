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

#include "../gfx9/wave.hpp"
#include "origins.hpp"

namespace kfdemu::check {

/// The registers that are set when a wave starts; all others are undefined.
struct InitialRegisters {
    std::uint32_t user_sgprs = 0;  ///< s0 and following
    std::uint32_t first_system_sgpr = 0, system_sgprs = 0;
    std::uint32_t vgprs = 0;  ///< v0 and following
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
    std::uint64_t undefined_lanes(gfx9::Operand operand) const {
        return operand >= gfx9::kConstants && operand < gfx9::kVgpr0 ? 0 : undefined_[number(operand)];
    }
    Undefined at(gfx9::Operand operand, unsigned lane) const;
    void set(gfx9::Operand operand, unsigned lane, Undefined what);
    /// Whole registers in these lanes; an SGPR whatever they are.
    void define(gfx9::Operand operand, std::uint64_t lanes) {
        if (operand >= gfx9::kConstants && operand < gfx9::kVgpr0) return;
        const unsigned n = number(operand);
        if (undefined_[n] == 0) return;
        if (n < kScalars) lanes = ~std::uint64_t{0};
        undefined_[n] &= ~lanes;
        never_[n] &= ~lanes;
    }

    Undefined scc;  ///< bit 0

  private:
    static constexpr unsigned kScalars = 128, kVectors = 512, kPadding = 32;
    static unsigned number(gfx9::Operand operand) {
        return operand < gfx9::kConstants ? operand : operand - gfx9::kVgpr0 + kScalars;
    }

    // The details of a lane are valid if its bit in `undefined_` is set, and its bit in `never_` is not.
    std::array<std::uint64_t, kScalars + kVectors + kPadding> undefined_{}, never_{};
    std::array<Undefined, kScalars> scalars_{};
    std::vector<Undefined> vectors_;
};

}  // namespace kfdemu::check
