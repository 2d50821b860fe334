#include "group_checker.hpp"

namespace kfdemu::check {

void GroupChecker::begin(const Scene& scene, unsigned waves) {
    scene_ = scene;
    waits_ = scene.session.checks.has(Check::wait);
    memory_ = scene.session.checks.has(Check::memory);
    races_ = scene.session.checks.has(Check::race) && waves > 1;
    if (races_) lds_races_.begin(waves, scene.lds_bytes);
    while (waves_.size() < waves) waves_.push_back(std::make_unique<WaveChecker>(*this));
    for (unsigned n = 0; n < waves; ++n) waves_[n]->begin();
}

void GroupChecker::WaveChecker::before(const gfx9::Wave& wave, const gfx9::Inst& inst) noexcept {
    if (group_.waits_ && wait_.wants(inst)) wait_.before(group_.scene_, group_.cache_, wave, inst);
    if (group_.races_ && inst.format == gfx9::Format::Sopp) group_.orders(wave, inst);
    if ((group_.memory_ || group_.races_) && may_access(inst.format)) group_.accesses(wave, inst);
}

void GroupChecker::accesses(const gfx9::Wave& wave, const gfx9::Inst& inst) {
    if (!accesses_memory(inst)) return;
    Segments segments;
    find_accesses(wave, inst, segments);
    if (memory_) memory_check_.before(scene_, wave, inst, segments);
    if (!races_) return;
    for (unsigned n = 0; n < segments.count; ++n) lds_races_.access(scene_, wave, inst, segments.access[n]);
}

void GroupChecker::orders(const gfx9::Wave& wave, const gfx9::Inst& inst) {
    if (inst.row == index(gfx9::Op::s_barrier)) lds_races_.barrier(wave.index_in_group);
    if (inst.row == index(gfx9::Op::s_waitcnt))
        lds_races_.waited(wave.index_in_group, static_cast<std::uint32_t>(inst.offset) >> 8 & 0xf);
}

void GroupChecker::faulted(const gfx9::Wave& wave, const gfx9::Inst& inst) {
    if (memory_) memory_check_.faulted(scene_, wave, inst);
}

}  // namespace kfdemu::check
