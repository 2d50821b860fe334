// Which instructions of a code page are translated together.
//
//     for (const Stretch& stretch : stretches(slots, shape)) translate(stretch, shape.width);
//
// A stretch is straight-line code: each instruction follows the one before it, and none is the target of a branch from
// the same page, except the first. Entered elsewhere, its instructions are interpreted. A global store is the last one
// of its stretch, which has no global loads, so that no lane loads or overwrites what another has stored in the same
// stretch. Pure. Thread safety: no state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "tools/kfdemu/jit/operation.hpp"

namespace kfdemu::jit {

struct Stretch {
    unsigned lanes = isa::kMostLanes;  ///< of the waves
    const isa::Inst* begin = nullptr;
    const isa::Inst* end = nullptr;                  ///< where the code continues
    std::vector<LaneOp> scalars;                     ///< done first: no operation before one uses what it sets
    std::vector<const isa::Inst*> insts;             ///< without those of `scalars`
    std::vector<LaneOp> ops;                         ///< of vectors; sources that have known numbers are these
    std::map<std::uint16_t, std::uint32_t> numbers;  ///< of SGPRs, after it
    std::set<std::uint16_t> masks;                   ///< that it sets: their first SGPRs

    std::size_t instructions() const { return insts.size() + scalars.size(); }
    bool has(Lane lane) const {
        return std::any_of(ops.begin(), ops.end(), [=](const LaneOp& op) { return op.lane == lane; });
    }

    static constexpr std::size_t kMostOps = 1024;
    static constexpr std::size_t kFewestOps =
        2;  ///< without global loads and stores, which the interpreter does as fast
};

/// `slots`: one a dword, as Decoder::decode_page() fills them.
std::vector<Stretch> stretches(std::span<const isa::Inst> slots, const Shape& shape);

}  // namespace kfdemu::jit
