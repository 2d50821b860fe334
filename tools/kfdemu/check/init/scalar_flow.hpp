// Undefined bits through instructions of the scalar unit; reports branches on them, and EXEC set from them.
//
//     if (reads undefined bits) flow_scalar(flow);
//
// Thread safety: that of its work-group.
#pragma once

#include "flow.hpp"

namespace kfdemu::check {

/// SOP1, SOP2, SOPC, SOPK, SOPP.
void flow_scalar(const Flow& flow);
/// Whether the instruction has to be looked at even if the registers that it names are defined: it names others
/// indirectly, or may keep its destination.
bool is_indirect(isa::Op op);

}  // namespace kfdemu::check
