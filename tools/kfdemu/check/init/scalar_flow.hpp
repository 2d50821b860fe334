// Undefined bits through instructions of the scalar unit; reports branches on them, and EXEC set from them.
//
//     if (reads undefined bits) flow_scalar(flow);
//
// Thread safety: that of its work-group.
#pragma once

#include "tools/kfdemu/check/init/flow.hpp"

namespace kfdemu::check {

/// SOP1, SOP2, SOPC, SOPK, SOPP.
void flow_scalar(const Flow& flow);

}  // namespace kfdemu::check
