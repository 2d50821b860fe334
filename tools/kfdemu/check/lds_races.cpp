#include "lds_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace kfdemu::check {

using namespace gfx9;

void LdsRaces::begin(unsigned waves, std::uint32_t lds_bytes) {
    for (const WaveState& wave : state_) first_epoch_ = std::max(first_epoch_, wave.epoch);
    first_epoch_ += 2;  // an unwaited access reaches into the next epoch
    waves_ = waves;
    if (bytes_.size() < lds_bytes) bytes_.resize(lds_bytes);
    for (unsigned n = 0; n < kMaxWaves; ++n) {
        state_[n] = {};
        state_[n].epoch = first_epoch_;
        state_[n].clock[n] = 1;
    }
    atomics_.clear();
    insts_.clear();
    inst_of_pc_.clear();
}

void LdsRaces::barrier(unsigned wave) {
    state_[wave].epoch += 1;
    state_[wave].done_at_barrier = state_[wave].done;
}

/// LDS returns in order: with at most lgkmcnt outstanding, all but the last lgkmcnt have happened.
void LdsRaces::waited(unsigned wave, std::uint32_t lgkmcnt) {
    WaveState& state = state_[wave];
    if (state.issued >= lgkmcnt) state.done = std::max(state.done, state.issued - lgkmcnt);
}

void LdsRaces::synchronise(unsigned wave, std::uint64_t address) {
    Clock& shared = atomics_[address];
    Clock& own = state_[wave].clock;
    for (unsigned n = 0; n < waves_; ++n) own[n] = shared[n] = std::max(own[n], shared[n]);
    own[wave] += 1;  // what follows is not known to those who saw this
}

void LdsRaces::acquire(unsigned wave, std::uint64_t address) {
    const auto found = atomics_.find(address);
    if (found == atomics_.end()) return;
    Clock& own = state_[wave].clock;
    for (unsigned n = 0; n < waves_; ++n)
        if (n != wave) own[n] = std::max(own[n], found->second[n]);
}

LdsRaces::Order LdsRaces::order(const Mark& earlier, const WaveState& now, const Mark& mark) const {
    if (earlier.epoch < first_epoch_ || earlier.wave == mark.wave || (earlier.atomic && mark.atomic))
        return Order::Ordered;
    if (now.clock[earlier.wave] >= earlier.time) return Order::Ordered;
    if (earlier.epoch == mark.epoch) return Order::NoBarrier;
    const bool next = earlier.epoch + 1 == mark.epoch;
    return next && earlier.number > state_[earlier.wave].done_at_barrier ? Order::NotWaited : Order::Ordered;
}

std::uint16_t LdsRaces::remember(const Inst& inst) {
    const auto [found, added] = inst_of_pc_.try_emplace(inst.pc, static_cast<std::uint16_t>(insts_.size()));
    if (added) insts_.push_back(inst);
    return found->second;
}

void LdsRaces::access(const Scene& scene, const Wave& wave, const Inst& inst, const Access& access) {
    if (waves_ < 2) return;
    const bool atomic = rows()[inst.row].is(kAtomic);
    WaveState& state = state_[wave.index_in_group];
    if (atomic || (!access.writes && !atomics_.empty()))
        for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
            const std::uint64_t at = access.at[static_cast<unsigned>(std::countr_zero(rest))];
            atomic ? synchronise(wave.index_in_group, at) : acquire(wave.index_in_group, at);
        }
    if (access.place != Place::Lds) return;
    state.issued += 1;
    Mark mark{state.epoch, state.clock[wave.index_in_group], state.issued};
    mark.wave = static_cast<std::uint8_t>(wave.index_in_group);
    mark.atomic = atomic;
    mark.inst = remember(inst);
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
        mark.lane = static_cast<std::uint8_t>(std::countr_zero(rest));
        const std::uint64_t at = access.at[mark.lane];
        for (std::uint64_t b = at; b < at + access.bytes && b < bytes_.size(); ++b)
            touch(scene, wave, inst, access, bytes_[b], mark);
    }
}

void LdsRaces::touch(const Scene& scene, const Wave& wave, const Inst& inst, const Access& access, Byte& byte,
                     const Mark& mark) {
    const auto offset = static_cast<std::uint64_t>(&byte - bytes_.data());
    // A plain read may be an atomic one.
    const bool with_atomic = byte.write.atomic && !access.writes;
    bool found = !with_atomic && report(scene, wave, inst, byte.write, mark, true, offset);
    if (access.writes && !mark.atomic)
        for (const Mark& read : byte.read) found = found || report(scene, wave, inst, read, mark, false, offset);
    if (access.writes) byte.write = mark;
    if (!access.reads || mark.atomic) return;
    Mark& slot = byte.read[0].epoch == mark.epoch && byte.read[0].wave != mark.wave ? byte.read[1] : byte.read[0];
    slot = mark;
}

bool LdsRaces::report(const Scene& scene, const Wave& wave, const Inst& inst, const Mark& earlier, const Mark& mark,
                      bool earlier_wrote, std::uint64_t offset) {
    const Order how = order(earlier, state_[mark.wave], mark);
    if (how == Order::Ordered) return false;
    const char* rule = how == Order::NoBarrier ? "lds-race" : "lds-race-before-wait";
    if (!scene.session.report->is_new(Check::race, rule, inst.pc)) return true;
    Finding finding = scene.finding(Check::race, rule, wave, inst);
    finding.what = fmt::format("LDS that another wave {} is accessed, and {}", earlier_wrote ? "writes" : "reads",
                               how == Order::NoBarrier
                                   ? "no barrier is between"
                                   : "the other access is not waited for (lgkmcnt) before the barrier between");
    finding.lane = mark.lane;
    finding.address = offset;
    finding.place = fmt::format("offset {} of {} bytes of LDS", offset, scene.lds_bytes);
    finding.related.push_back({fmt::format("lane {} of wave {}", earlier.lane, earlier.wave),
                               scene.site(insts_[earlier.inst])});
    scene.session.report->add(std::move(finding));
    return true;
}

}  // namespace kfdemu::check
