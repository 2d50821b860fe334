// Watches the waves of one work-group for accesses that nothing orders: of LDS, and of memory.
//
//     RaceCheck check;
//     if (check.begin(scene, waves)) …                // a new work-group; false: nothing to watch
//     check.orders(wave, inst);                       // each SOPP instruction
//     check.before(scene, wave, inst, segments);      // each memory instruction
//
// Thread safety: that of its work-group.
#pragma once

#include "access.hpp"
#include "access_sites.hpp"
#include "group_order.hpp"
#include "lds_races.hpp"
#include "scene.hpp"

namespace kfdemu::check {

class RaceCheck {
  public:
    bool begin(const Scene& scene, unsigned waves);
    void orders(const gfx9::Wave& wave, const gfx9::Inst& inst);
    void before(const Scene& scene, const gfx9::Wave& wave, const gfx9::Inst& inst, const Segments& segments);

  private:
    bool lds_ = false;
    GroupOrder order_;
    AccessSites sites_;
    LdsRaces lds_races_;
};

}  // namespace kfdemu::check
