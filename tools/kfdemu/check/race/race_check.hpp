// Watches the waves of one work-group for accesses that nothing orders: of LDS, and of memory.
//
//     RaceCheck check;
//     if (check.begin(scene, waves)) …                // a new work-group; false: nothing to watch
//     if (check.may_order(inst)) check.orders(wave, inst);
//     check.before(scene, wave, inst, segments);      // each memory instruction
//
// Thread safety: that of its work-group.
#pragma once

#include <unordered_map>

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/flow/counters.hpp"
#include "tools/kfdemu/check/race/lds_races.hpp"
#include "tools/kfdemu/check/race/memory_race_check.hpp"
#include "tools/kfdemu/check/race/pending_stores.hpp"
#include "tools/kfdemu/check/race/race_context.hpp"

namespace kfdemu::check {

class RaceCheck {
  public:
    bool begin(const Scene& scene, unsigned waves);
    /// Tested for every instruction.
    static bool may_order(const isa::Inst& inst) { return Counters::may_wait(inst.format) || signals(inst); }
    void orders(const isa::Wave& wave, const isa::Inst& inst);
    void before(const Scene& scene, const isa::Wave& wave, const isa::Inst& inst, const Segments& segments);

  private:
    static constexpr std::uint32_t kGroupBarrier = ~0u;
    static bool signals(const isa::Inst& inst) {
        return inst.row == isa::index(isa::Op::s_barrier_signal) ||
               inst.row == isa::index(isa::Op::s_barrier_signal_isfirst);
    }
    void synchronises(const isa::Wave& wave, const isa::Inst& inst, const Access& access);

    bool lds_ = false, memory_ = false;
    Counters counters_{isa::Target{}};
    CacheModel caches_;
    GroupOrder order_;
    AccessSites sites_;
    PendingStores stores_;
    LdsRaces lds_races_;
    MemoryRaceCheck memory_races_;
    std::unordered_map<std::uint64_t, GroupOrder::Channel> channels_;  // of atomics in memory, by address
};

}  // namespace kfdemu::check
