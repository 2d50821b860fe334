// What the parts of `race` share about a work-group.
//
// Borrows: all of it, during a call.
#pragma once

#include "tools/kfdemu/check/flow/scene.hpp"
#include "tools/kfdemu/check/race/access_sites.hpp"
#include "tools/kfdemu/check/race/group_order.hpp"

namespace kfdemu::check {

struct RaceContext {
    const Scene& scene;
    GroupOrder& order;
    AccessSites& sites;
    bool waited = true;  ///< the wave has waited for its earlier stores to memory
};

}  // namespace kfdemu::check
