// Finds accesses of one byte of memory by two waves of a dispatch that nothing orders, at least one of them a write
// (`race`), and reads of what another work-group wrote that may find an older value in a cache (`fence`).
//
//     MemoryRaceCheck check;
//     check.begin(scene);                                   // a new work-group; scene.memory_races is not null
//     check.access(context, wave, inst, access);            // each access of memory
//     check.fences(wave, inst);                             // buffer_wbinvl1, s_dcache_inv, buffer_wbl2, …
//
// Of the waves of a work-group, barriers and atomics make the order (GroupOrder); of different work-groups,
// synchronisation by both (MemoryRaces). Not reported: an atomic on either side; a load that is volatile or atomic;
// two stores of the same value. Lanes of one wave are not compared.
//
// Caches do not see what another CU stores (CacheModel). So the writer waits for its stores before it tells others
// (vmcnt), or for the cache that keeps them to be written back, and the reader invalidates its cache after it was told.
// The waves of a work-group share both caches.
//
// Thread safety: that of its work-group.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/race/memory_races.hpp"
#include "tools/kfdemu/check/race/race_context.hpp"

namespace kfdemu::check {

class MemoryRaceCheck {
  public:
    void begin(const Scene& scene);
    /// The numbers of AccessSites have changed.
    void forget_sites() { shared_sites_.clear(); }
    void access(const RaceContext& context, const isa::Wave& wave, const isa::Inst& inst, const Access& access);
    /// Any instruction: whether it invalidates a cache, or writes it back.
    void fences(unsigned wave, const isa::Inst& inst);
    /// The wave has waited for its stores.
    void waited(unsigned wave);
    /// The wave has waited for the last that wrote the cache back.
    void written_back(unsigned wave);
    /// The work-group synchronises with all that do: global wave sync.
    void meet();

  private:
    using Record = MemoryShadow::Record;
    using Cell = MemoryShadow::Cell;
    using Page = MemoryShadow::Page;

    enum class Missing : std::uint8_t { Nothing, Order, Release, Acquire };
    struct Conflict {
        Record earlier;
        std::uint64_t va = 0;
        unsigned lane = 0;
        bool earlier_wrote = false;
        Missing missing = Missing::Order;
    };
    struct Now {
        const RaceContext& context;
        const isa::Wave& wave;
        const Access& access;
        Record record;
        const isa::Inst& inst;
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
    Missing missing(const Now& now, const Record& write) const;
    /// When nothing older was left in the caches that a load of that kind goes through.
    std::uint32_t emptied(bool scalar) const;
    void seen_by(const Now& now, const Record& write);
    /// Of what came before in the work-group.
    void release(const Now& now);
    void report(const Now& now, const Conflict& conflict) const;
    void report_race(const Now& now, const Conflict& conflict) const;
    void report_fence(const Now& now, const Conflict& conflict) const;
    void add(const Now& now, const Conflict& conflict, Finding&& finding) const;
    std::uint16_t shared_site(std::uint16_t own, const isa::Inst& inst);

    MemoryRaces* races_ = nullptr;
    std::uint64_t races_serial_ = 0;
    std::uint32_t group_ = 0;
    bool races_wanted_ = false, fences_wanted_ = false;
    std::atomic<std::uint32_t>* last_store_ = nullptr;   // of group_
    std::uint32_t acquired_ = 0;                         ///< tick
    std::uint32_t vector_cache_ = 0, scalar_cache_ = 0;  ///< ticks when they were invalidated …
    std::uint32_t shared_cache_ = 0;                     ///< … and the one behind both
    std::array<std::uint32_t, GroupOrder::kMaxWaves>
        written_back_{};     ///< ticks when the waves last began to write the cache back
    bool acquires_ = false;  ///< with the next access: what is seen is seen after the instruction began
    std::array<std::pair<std::uint64_t, Page*>, 64> pages_{};  // of races_, by number
    std::vector<std::uint32_t> shared_sites_;                  // by own number, plus 1; 0: unknown
    std::vector<Conflict> conflicts_;
};

}  // namespace kfdemu::check
