#include "race_check.hpp"

namespace kfdemu::check {

using namespace gfx9;

bool RaceCheck::begin(const Scene& scene, unsigned waves) {
    if (!scene.session.checks.has(Check::race)) return false;
    sites_.forget_if_many();
    order_.begin(waves);
    lds_ = waves > 1 && scene.lds_bytes != 0;
    if (lds_) lds_races_.begin(scene.lds_bytes);
    return lds_;
}

void RaceCheck::orders(const Wave& wave, const Inst& inst) {
    const unsigned index = wave.index_in_group;
    if (inst.row == gfx9::index(Op::s_barrier)) order_.barrier(index);
    if (inst.row == gfx9::index(Op::s_waitcnt))
        order_.waited(index, static_cast<std::uint32_t>(inst.offset) >> 8 & 0xf);
    if (inst.row == gfx9::index(Op::s_endpgm)) order_.ended(index);
}

void RaceCheck::before(const Scene& scene, const Wave& wave, const Inst& inst, const Segments& segments) {
    const bool flat = inst.format == Format::Flat && inst.segment == Segment::Flat;
    order_.issue(wave.index_in_group, inst.format == Format::Ds || flat);
    const LdsRaces::Context context{scene, order_, sites_};
    for (unsigned n = 0; n < segments.count; ++n) {
        const Access& access = segments.access[n];
        if (access.lanes != 0 && access.place == Place::Lds && lds_) lds_races_.access(context, wave, inst, access, n);
    }
}

}  // namespace kfdemu::check
