#include "group_checker.hpp"

namespace kfdemu::check {

void GroupChecker::begin(const Scene& scene, unsigned waves) {
    scene_ = scene;
    waits_ = scene.session.checks.has(Check::wait);
    while (waves_.size() < waves) waves_.push_back(std::make_unique<WaveChecker>(*this));
    for (unsigned n = 0; n < waves; ++n) waves_[n]->begin();
}

void GroupChecker::WaveChecker::before(const gfx9::Wave& wave, const gfx9::Inst& inst) noexcept {
    if (group_.waits_) wait_.before(group_.scene_, group_.cache_, wave, inst);
}

}  // namespace kfdemu::check
