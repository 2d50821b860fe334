// Wait states after matrix instructions, up to 20, and on gfx908 after what moves AccVGPRs.
//
//     matrix.clear(rules);                                   // of the wave's target
//     if (states_after(row, rule) != 0) matrix.push(inst, now, …);
//     if (matrix.recent(now)) hazard = matrix.search(inst, bits, now);
//
// Hazards (hazards.hpp) asks it only while one of those is recent. The rules: hazards.cpp. Pure. Thread safety: that of
// its wave.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/check/wait/hazard.hpp"

namespace kfdemu::check {

/// What an instruction is to later ones: rows and columns of its result, or what it moves. Deep: of one block, and
/// neither of doubles nor of F32.
enum class MatrixKind : std::uint8_t {
    By4,
    By16,
    By16Deep,
    By32,
    By32Deep,
    SinglesBy4,
    SinglesBy16,
    SinglesBy32,
    DoublesBy4,
    DoublesBy16,
    ToAccumulator,
    FromAccumulator,
    count
};

/// What the later instruction does with a register. Matrix instructions have factors and an addend, others sources and
/// results.
enum class Role : std::uint8_t { Factor, Addend, Source, Result, None };
/// What the register is to the earlier one: its result, exactly that or only a part of it, its addend, or anything.
/// Hidden: the result of the vector instruction directly before it, for which the hardware waits if it sees it.
enum class Meets : std::uint8_t { Result, SameResult, PartOfResult, Addend, Hidden, Anything };

/// Wait states between a matrix instruction and a later one. The last instruction that has such a register counts.
struct MatrixRule {
    const char* name;                ///< LLVM's
    bool (*later)(const isa::Row&);  ///< which instructions wait
    Role role;                       ///< of the register in the later one …
    Meets meets;                     ///< … and in the earlier one
    /// By the MatrixKind of the earlier one; 0: the rule is not about it.
    std::array<std::uint8_t, static_cast<std::size_t>(MatrixKind::count)> states;

    constexpr unsigned after(MatrixKind kind) const { return states[static_cast<std::size_t>(kind)]; }
};
/// What the rule wants after an instruction of that row; 0: nothing.
unsigned states_after(const isa::Row& earlier, const MatrixRule& rule);

class MatrixHazards {
  public:
    static constexpr unsigned kMost = 20;  ///< wait states that any rule needs

    void clear(std::span<const MatrixRule> rules) { size_ = 0, hidden_until_ = 0, rules_ = rules; }
    bool recent(std::uint64_t now) const { return size_ != 0 && newest(0).states_until(now) < kMost; }
    /// An instruction that others may have to wait for executes at the wait state `now`. `hidden`: the vector
    /// instruction directly before it, or null.
    void push(const isa::Inst& inst, std::uint64_t now, const isa::Inst* hidden);
    /// `inst` executes next, `rules` has a bit for each rule in which it is the later one. The hazard of which most is
    /// missing, until the next call; null if there is none.
    const Hazard* search(const isa::Inst& inst, unsigned rules, std::uint64_t now);

  private:
    static constexpr unsigned kEntries = 32;  // a power of two, above kMost

    struct Past {
        isa::Inst inst;
        std::uint64_t when;
        MatrixKind kind;
        RegisterUse result, addend;

        std::uint64_t states_until(std::uint64_t now) const { return now - when - 1; }
    };

    const Past& newest(unsigned n) const { return past_[(last_ - n) % kEntries]; }
    const Past* find(const MatrixRule& rule, const RegisterUse& used, std::uint64_t now) const;
    void check(const RegisterUse& used, Role role, unsigned rules, std::uint64_t now);
    void check_hidden(const MatrixRule& rule, const RegisterUse& used, std::uint64_t now);
    void consider(const isa::Inst& earlier, unsigned needed, std::uint64_t states);

    std::span<const MatrixRule> rules_;
    std::array<Past, kEntries> past_{};
    unsigned size_ = 0, last_ = 0;
    isa::Inst hidden_{};              // a vector instruction whose result memory instructions may get too early …
    std::uint64_t hidden_until_ = 0;  // … at this wait state
    Hazard found_;
};

}  // namespace kfdemu::check
