// Undefined bits through instructions of the vector unit, lane by lane; reports EXEC set from them.
//
//     if (reads undefined bits) flow_vector(flow);
//
// Thread safety: that of its work-group.
#pragma once

#include "tools/kfdemu/check/init/flow.hpp"

namespace kfdemu::check {

/// VOP1, VOP2, VOP3, VOPC, VOPD; VOP3P is in packed_flow.cpp.
void flow_vector(const Flow& flow);
void flow_packed(const Flow& flow);
/// Whether the instruction may keep parts of its destination: DPP, SDWA, halves, loads of
/// halves; or all of it, because of the wave's width.
bool keeps_parts(const isa::Inst& inst);

/// One dword of a source or result, for all lanes.
struct Column {
    alignas(64) std::uint32_t value[isa::kMostLanes];
    alignas(64) std::uint32_t bits[isa::kMostLanes];
    alignas(64) Origin origin[isa::kMostLanes];

    Undefined at(unsigned lane) const { return {bits[lane], origin[lane]}; }
};
/// Source n's dword k, before modifiers.
void gather(const Flow& flow, unsigned n, unsigned k, Column& out);

// modified_flow.cpp: the undefined bits take the ways of the values.
/// The lanes that the instruction writes.
std::uint64_t written_lanes(const Flow& flow);
/// DPP or SDWA of source n.
void modify_source(const Flow& flow, unsigned n, Column& column);
/// SDWA's destination select, with the old undefined bits.
void modify_result(const Flow& flow, Column& column);

}  // namespace kfdemu::check
