// Wait states: instructions that must not follow each other too closely, because the hardware does not look.
//
//     Hazards hazards;                                // of one wave
//     if (const Hazard* hazard = hazards.before(inst)) …
//
// An instruction gives one wait state to those after it, s_nop as many as it says. Source: "Vega" ISA manual, "Manually
// Inserted Wait States (NOPs)"; for dot products and matrix instructions, see matrix_hazards.cpp. Pure. Thread safety:
// that of its wave.
#pragma once

#include <array>
#include <cstdint>

#include "hazard.hpp"
#include "matrix_hazards.hpp"

namespace kfdemu::check {

/// The rules that instructions of a row may take part in, one bit each, as the earlier and as the later one.
struct HazardRoles {
    std::uint16_t earlier = 0, later = 0;
};
inline constexpr std::uint16_t kMatrixRole = 1 << 15;     ///< one of those of MatrixHazards
inline constexpr std::uint16_t kLeavesFunction = 0xffff;  ///< as the later one: earlier ones are forgotten
/// One for each row.
const HazardRoles* hazard_roles(isa::Target target);

class Hazards {
    static constexpr unsigned kMost = 5;  // wait states that any rule needs, without those of matrix_hazards.hpp

  public:
    /// A new wave.
    void clear(isa::Target target) {
        target_ = target;
        roles_ = hazard_roles(target);
        forget();
    }
    /// `inst` executes next. The hazard of it with one of those before it, until the next call; null if there is none.
    const Hazard* before(const isa::Inst& inst) {
        const HazardRoles roles = roles_[inst.row];
        const Hazard* found = (roles.later & recent_) != 0 ? search(inst, roles.later) : nullptr;
        if (roles.earlier != 0) push(inst, roles.earlier);
        now_ += states_of(inst);
        return found;
    }

  private:
    struct Past {
        isa::Inst inst;
        std::uint64_t when;
        unsigned roles;
    };
    static unsigned states_of(const isa::Inst& inst) {
        return inst.row == index(isa::Op::s_nop) ? (static_cast<unsigned>(inst.offset) & 15) + 1 : 1;
    }
    void forget() {
        recent_ = 0, now_ += 2 * kMost;
        matrix_.clear(target_);
    }
    const Hazard* search(const isa::Inst& inst, unsigned later);
    void push_matrix(const isa::Inst& inst);
    void push(const isa::Inst& inst, unsigned earlier) {
        if ((earlier & kMatrixRole) != 0) push_matrix(inst);
        Past& past = past_[last_++ % kMost];
        past.inst = inst;
        past.when = now_;
        past.roles = earlier;
        recent_ |= earlier;
    }

    isa::Target target_{};
    const HazardRoles* roles_ = hazard_roles(isa::Target{});
    std::array<Past, kMost> past_{};  // a ring of the last instructions that have roles
    unsigned last_ = 0;
    unsigned recent_ = 0;            // the roles of those in the ring that may matter
    std::uint64_t now_ = 2 * kMost;  // in wait states; what is in an empty ring is long past
    Hazard found_;
    MatrixHazards matrix_;
};

}  // namespace kfdemu::check
