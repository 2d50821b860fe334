#include "tools/kfdemu/check/group_checker.hpp"

namespace kfdemu::check {

void GroupChecker::begin(const Scene& scene, unsigned waves) {
    scene_ = scene;
    waits_ = scene.session.checks.has(Check::wait);
    memory_ = scene.session.checks.has(Check::memory);
    races_ = race_check_.begin(scene, waves);
    init_ = scene.session.checks.has(Check::init);
    if (init_) {
        shadow_.lds.begin(1, scene.lds_bytes);
        shadow_.origins.clear();
        plans_.begin();
    }
    while (waves_.size() < waves) waves_.push_back(std::make_unique<WaveChecker>(*this));
    for (unsigned n = 0; n < waves; ++n) waves_[n]->begin();
}

void GroupChecker::WaveChecker::begin() {
    wait_.clear(group_.scene_.target);
    if (group_.init_) init_.begin(group_.scene_);
}

void GroupChecker::WaveChecker::before(const isa::Wave& wave, const isa::Inst& inst) noexcept {
    if (group_.waits_) wait_.before(group_.scene_, group_.cache_, wave, inst);
    if (group_.init_) init_.before(group_.scene_, group_.shadow_, group_.plans_, wave, inst);
    if (group_.races_ && RaceCheck::may_order(inst)) group_.race_check_.orders(wave, inst);
    if ((group_.memory_ || group_.races_) && may_access(inst.format)) group_.accesses(wave, inst);
}

void GroupChecker::accesses(const isa::Wave& wave, const isa::Inst& inst) {
    Segments segments;
    find_accesses(wave, inst, segments);
    if (memory_) memory_check_.before(scene_, wave, inst, segments);
    if (races_) race_check_.before(scene_, wave, inst, segments);
}

void GroupChecker::faulted(const isa::Wave& wave, const isa::Inst& inst) {
    if (memory_) memory_check_.faulted(scene_, wave, inst);
}

}  // namespace kfdemu::check
