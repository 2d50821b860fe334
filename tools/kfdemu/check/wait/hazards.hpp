// Wait states: instructions that must not follow each other too closely, because the hardware does not look.
//
//     Hazards hazards;                                // of one wave
//     if (const Hazard* hazard = hazards.before(inst)) …
//
// An instruction gives one wait state to those after it, s_nop as many as it says; from GFX11 on, those of the VALU
// give one, and no others. The rules are tables in hazards.cpp, which also has the sources. Pure. Thread safety: that
// of its wave.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/kfdemu/check/wait/hazard.hpp"
#include "tools/kfdemu/check/wait/matrix_hazards.hpp"

namespace kfdemu::check {

/// Wait states between an earlier and a later instruction.
struct HazardRule {
    enum When : std::uint8_t { Any, Dpp, ScalarSetup };  // which forms of the later one

    const char* name;  ///< the ISA manual's, or LLVM's
    unsigned states;   ///< that must be between the two
    bool (*earlier)(const isa::Row&);
    bool (*later)(const isa::Row&);
    bool (*applies)(const isa::Inst& earlier, const isa::Inst& later);  ///< which registers connect them
    When when = Any;
    const char* remedy = nullptr;             ///< other than s_nop; two transcendentals between end the hazard, too
    bool (*ends)(const isa::Row&) = nullptr;  ///< after which the earlier one is forgotten
};

/// The rules that instructions of a row may take part in, one bit each, as the earlier and as the later one.
struct HazardRoles {
    std::uint32_t earlier = 0, later = 0, ends = 0;
};
inline constexpr unsigned kFirstMatrixRole = 20;  ///< rules of MatrixHazards have the bits from here on
inline constexpr std::uint32_t kMatrixRoles = ~std::uint32_t{0} << kFirstMatrixRole;
inline constexpr std::uint32_t kForgets = ~std::uint32_t{0};  ///< as the later one: earlier ones are forgotten

/// The rules of a target, and what each row is to them.
struct HazardTable {
    std::vector<HazardRule> rules{};
    std::span<const MatrixRule> matrix{};
    std::array<std::uint32_t, 3> only{};  ///< the rules of each When
    bool by_valu = false;                 ///< only instructions of the VALU give wait states
    std::array<HazardRoles, isa::kRowCount> roles{};
};
const HazardTable& hazard_table(isa::Target target);

class Hazards {
  public:
    static constexpr unsigned kMost = 6;  ///< wait states that any rule needs, without those of matrix_hazards.hpp

    /// A new wave.
    void clear(isa::Target target) {
        table_ = &hazard_table(target);
        forget();
    }
    /// `inst` executes next. The hazard of it with one of those before it, until the next call; null if there is none.
    const Hazard* before(const isa::Inst& inst) {
        const HazardRoles roles = table_->roles[inst.row];
        const Hazard* found = (roles.later & recent_) != 0 ? search(inst, roles.later) : nullptr;
        if ((roles.ends & recent_) != 0 && !waits_for_others(inst)) end(roles.ends);
        if (roles.earlier != 0) push(inst, roles.earlier);
        now_ += states_of(inst);
        if (table_->by_valu) transcendentals_ += is_transcendental(inst);
        return found;
    }

  private:
    struct Past {
        isa::Inst inst;
        std::uint64_t when, transcendentals;  ///< before it
        unsigned roles;
    };
    /// Scales and the product that takes them are one instruction.
    unsigned states_of(const isa::Inst& inst) const {
        if (table_->by_valu) return isa::is_vector(inst.format) ? 1 : 0;
        if (inst.row == index(isa::Op::v_mfma_ld_scale_b32)) return 0;
        return inst.row == index(isa::Op::s_nop) ? (static_cast<unsigned>(inst.offset) & 15) + 1 : 1;
    }
    void forget() {
        recent_ = 0, now_ += 2 * kMost;
        matrix_.clear(table_->matrix);
    }
    const Hazard* search(const isa::Inst& inst, unsigned later);
    static bool is_transcendental(const isa::Inst& inst) { return isa::rows()[inst.row].is(isa::kTranscendental); }
    /// s_waitcnt_depctr, but not for VA_VDST, the results of the VALU.
    static bool waits_for_others(const isa::Inst& inst) {
        return inst.row == index(isa::Op::s_waitcnt_depctr) && (inst.offset & 0xf000) != 0;
    }
    void end(std::uint32_t roles);
    void push_matrix(const isa::Inst& inst);
    void push(const isa::Inst& inst, unsigned earlier) {
        if ((earlier & kMatrixRoles) != 0) push_matrix(inst);
        Past& past = past_[last_++ % kMost];
        past.inst = inst;
        past.when = now_;
        past.transcendentals = transcendentals_;
        past.roles = earlier;
        recent_ |= earlier;
    }

    const HazardTable* table_ = &hazard_table(isa::Target{});
    std::array<Past, kMost> past_{};  // a ring of the last instructions that have roles
    unsigned last_ = 0;
    unsigned recent_ = 0;                // the roles of those in the ring that may matter
    std::uint64_t now_ = 2 * kMost;      // in wait states; what is in an empty ring is long past
    std::uint64_t transcendentals_ = 0;  // so far
    Hazard found_;
    MatrixHazards matrix_;
};

}  // namespace kfdemu::check
