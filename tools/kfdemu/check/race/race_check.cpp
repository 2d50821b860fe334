#include "tools/kfdemu/check/race/race_check.hpp"

#include <bit>

namespace kfdemu::check {

using namespace isa;

bool RaceCheck::begin(const Scene& scene, unsigned waves) {
    lds_ = scene.session.checks.has(Check::lds_race) && waves > 1 && scene.lds_bytes != 0;
    memory_ = scene.memory_races != nullptr;
    counters_ = Counters{scene.target};
    caches_ = cache_model(scene.target);
    if (!lds_ && !memory_) return false;
    if (sites_.forget_if_many()) memory_races_.forget_sites();
    order_.begin(waves);
    stores_.begin();
    channels_.clear();
    if (lds_) lds_races_.begin(scene.lds_bytes);
    if (memory_) memory_races_.begin(scene);
    return true;
}

void RaceCheck::orders(const Wave& wave, const Inst& inst) {
    const unsigned index = wave.index_in_group;
    if (inst.row == isa::index(Op::s_barrier)) order_.barrier(index);
    if (signals(inst) && wave.s[inst.src[0]] == kGroupBarrier) order_.signal(index);
    if (inst.row == isa::index(Op::s_barrier_wait) && inst.offset == -1) order_.wait(index);
    if (const Waits waits = counters_.waits(wave, inst); waits.any()) {
        order_.waited(index, waits.lds);
        const PendingStores::Proved proved = stores_.waited(index, waits.stores);
        if (proved.writeback && memory_) memory_races_.written_back(index);
        if (proved.stores && memory_) memory_races_.waited(index);
    }
    if (inst.row == isa::index(Op::s_endpgm)) order_.ended(index);
}

void RaceCheck::before(const Scene& scene, const Wave& wave, const Inst& inst, const Segments& segments) {
    const bool flat = inst.format == Format::Flat && inst.segment == Segment::Flat;
    order_.issue(wave.index_in_group, inst.format == Format::Ds || flat);
    const RaceContext context{scene, order_, sites_, !stores_.any(wave.index_in_group)};
    using Does = PendingStores::Does;
    Does does = caches_.writes_back(inst) ? Does::WritesBack : Does::Nothing;
    for (unsigned n = 0; n < segments.count; ++n) {
        const Access& access = segments.access[n];
        if (access.lanes == 0) continue;
        if (access.place == Place::Lds && lds_) lds_races_.access(context, wave, inst, access, n);
        if (access.place != Place::Memory) continue;
        synchronises(wave, inst, access);
        if (memory_) memory_races_.access(context, wave, inst, access);
        if (access.writes && !access.reads) does = Does::Stores;
    }
    if (memory_) memory_races_.fences(wave.index_in_group, inst);
    if (counters_.counts_store(inst)) stores_.issue(wave.index_in_group, does);
    if (!rows()[inst.row].is(kGws)) return;
    order_.follow_all(wave.index_in_group);
    if (memory_) memory_races_.meet();
}

/// Through memory, the waves of a work-group order their accesses of LDS, too.
void RaceCheck::synchronises(const Wave& wave, const Inst& inst, const Access& access) {
    if (order_.waves() < 2 || !access.reads) return;
    const unsigned index = wave.index_in_group;
    if (!access.writes) {
        if (caches_.looks_in_group(inst) || sites_[sites_.number(wave, inst)].idiom == Idiom::Waits)
            order_.follow_all(index);
        return;
    }
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1)
        order_.exchange(index, channels_[access.at[static_cast<unsigned>(std::countr_zero(rest))]]);
    if (sites_[sites_.number(wave, inst)].idiom != Idiom::Plain) order_.follow_all(index);
}

}  // namespace kfdemu::check
