// Wait states after matrix instructions, up to 19, and on gfx908 after what moves AccVGPRs.
//
//     if (MatrixHazards::is_earlier(target, row)) matrix.push(inst, now, …);
//     if (matrix.recent(now)) hazard = matrix.search(inst, now);
//
// Hazards (hazards.hpp) asks it only while one of those is recent. Sources: the .cpp. Pure. Thread safety: that of its
// wave.
#pragma once

#include <array>
#include <cstdint>

#include "../flow/register_use.hpp"
#include "hazard.hpp"

namespace kfdemu::check {

/// What an instruction is to later ones: rows and columns of its result, of doubles or others, or what it moves.
enum class MatrixKind : std::uint8_t { By4, By16, By32, DoublesBy4, DoublesBy16, ToAccumulator, FromAccumulator };

class MatrixHazards {
  public:
    /// Whether later instructions may have to wait for one of that row.
    static bool is_earlier(isa::Target target, const isa::Row& row);
    /// Whether one of that row may have to wait.
    static bool is_later(isa::Target target, const isa::Row& row);

    void clear(isa::Target target) { size_ = 0, hidden_until_ = 0, target_ = target; }
    bool recent(std::uint64_t now) const { return size_ != 0 && newest(0).states_until(now) < kMost; }
    /// An instruction that is_earlier() executes at the wait state `now`. `before`: the vector instruction directly
    /// before it, or null.
    void push(const isa::Inst& inst, std::uint64_t now, const isa::Inst* before);
    /// `inst` executes next. The hazard of which most is missing, until the next call; null if there is none.
    const Hazard* search(const isa::Inst& inst, std::uint64_t now);

  private:
    static constexpr unsigned kMost = 19;     // wait states that any rule needs
    static constexpr unsigned kEntries = 32;  // a power of two, above kMost

    struct Past {
        isa::Inst inst;
        std::uint64_t when;
        MatrixKind kind;
        RegisterUse result, addend;

        std::uint64_t states_until(std::uint64_t now) const { return now - when - 1; }
    };
    enum class Role : std::uint8_t { Factor, Addend, VectorSource, MemorySource, Result };

    const Past& newest(unsigned n) const { return past_[(last_ - n) % kEntries]; }
    template <class Is>
    const Past* find(std::uint64_t now, Is&& is) const;
    unsigned needed(const Past& past, const RegisterUse& used, Role role, const isa::Inst& later) const;
    void check(const isa::Inst& inst, const RegisterUse& used, Role role, std::uint64_t now);
    void check_hidden(const RegisterUse& used, std::uint64_t now);
    void consider(const isa::Inst& earlier, unsigned needed, std::uint64_t states);

    std::array<Past, kEntries> past_{};
    unsigned size_ = 0, last_ = 0;
    isa::Target target_{};
    isa::Inst hidden_{};              // a vector instruction whose result memory instructions get too early …
    std::uint64_t hidden_until_ = 0;  // … at this wait state
    Hazard found_;
};

}  // namespace kfdemu::check
