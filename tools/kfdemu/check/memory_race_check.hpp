// Finds accesses of one byte of memory by two waves of a dispatch that nothing orders, at least one of them a write.
//
//     MemoryRaceCheck check;
//     check.begin(scene);                                   // a new work-group; scene.memory_races is not null
//     check.access(context, wave, inst, access);            // each access of memory
//
// Of the waves of a work-group, barriers and atomics make the order (GroupOrder); of different work-groups,
// synchronisation by both (MemoryRaces). Not reported: an atomic on either side; a load that is volatile or atomic for
// the agent (GLC without SLC); two stores of the same value. Lanes of one wave are not compared.
//
// Thread safety: that of its work-group.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "access.hpp"
#include "memory_races.hpp"
#include "race_context.hpp"

namespace kfdemu::check {

class MemoryRaceCheck {
  public:
    void begin(const Scene& scene);
    /// The numbers of AccessSites have changed.
    void forget_sites() { shared_sites_.clear(); }
    void access(const RaceContext& context, const gfx9::Wave& wave, const gfx9::Inst& inst, const Access& access);
    /// The work-group synchronises with all that do: global wave sync.
    void meet();

  private:
    using Record = MemoryShadow::Record;
    using Cell = MemoryShadow::Cell;
    using Page = MemoryShadow::Page;

    struct Conflict {
        Record earlier;
        std::uint64_t va = 0;
        unsigned lane = 0;
        bool earlier_wrote = false;
    };
    struct Now {
        const RaceContext& context;
        const gfx9::Wave& wave;
        const Access& access;
        Record record;
        const gfx9::Inst& inst;
        bool looks = false;      ///< an atomic, or a load that looks for what others wrote
        Page* locked = nullptr;  ///< holds locked_va; null: it is not watched
        std::uint64_t locked_va = 0;
        /// That the lane stores; empty if it is not known.
        std::optional<std::array<std::uint32_t, 4>> stored{};
        std::uint32_t value = 0;  ///< of these, the dword's
    };

    Page* page(std::uint64_t va);
    void one_lane(Now& now, unsigned lane);
    bool lock(Now& now, std::uint64_t va);
    static bool stores_the_same(const Now& now, const Cell& cell);
    void dword(Now& now, std::uint64_t va, unsigned bytes, Cell& cell);
    void load(Now& now, std::uint64_t va, Cell& cell);
    void store(Now& now, std::uint64_t va, Cell& cell);
    void atomic(Now& now, Cell& cell);
    bool ordered(const Now& now, const Record& earlier) const;
    void seen_by(const Now& now, const Record& write);
    void report(const Now& now, const Conflict& conflict) const;
    std::uint16_t shared_site(std::uint16_t own, const gfx9::Inst& inst);

    MemoryRaces* races_ = nullptr;
    std::uint64_t races_serial_ = 0;
    std::uint32_t group_ = 0;
    std::uint32_t acquired_ = 0;  ///< tick
    bool acquires_ = false;       ///< with the next access: what is seen is seen after the instruction began
    std::array<std::pair<std::uint64_t, Page*>, 64> pages_{};  // of races_, by number
    std::vector<std::uint32_t> shared_sites_;                  // by own number, plus 1; 0: unknown
    std::vector<Conflict> conflicts_;
};

}  // namespace kfdemu::check
