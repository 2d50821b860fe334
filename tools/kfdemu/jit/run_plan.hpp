// Which instructions of a code page are translated together.
//
//     for (const Stretch& stretch : stretches(slots, width)) translate(stretch, width);
//
// A stretch is straight-line code: each instruction follows the one before it, and none is the target of a branch from
// the same page, except the first. Entered elsewhere, its instructions are interpreted. Pure. Thread safety: no state.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "operation.hpp"

namespace kfdemu::jit {

struct Stretch {
    std::vector<const gfx9::Inst*> insts;
    const gfx9::Inst* end = nullptr;                 ///< where the code continues
    std::vector<LaneOp> ops;                         ///< without Lane::scalar, whose numbers are their sources
    std::map<std::uint16_t, std::uint32_t> numbers;  ///< of SGPRs, after it
    std::set<std::uint16_t> masks;                   ///< that it sets: the first SGPRs of their pairs

    static constexpr std::size_t fewest_ops = 2, most_ops = 1024;
};

/// `slots`: one a dword, as Decoder::decode_page() fills them.
std::vector<Stretch> stretches(std::span<const gfx9::Inst> slots, Width width);

}  // namespace kfdemu::jit
