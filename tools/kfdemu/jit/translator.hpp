// Translates a stretch of vector instructions to the host's: all of them for a part of the wave's lanes, then for the
// next part, so that the registers of a part stay in the CPU's.
//
//     const std::vector<std::uint8_t> code = translate(stretch, Width::bits512);
//
// The code is a Translated function. EXEC selects the lanes that are stored; a part without active lanes is left out.
// Before a part is stored, the results of its float operations are tested: if one is a NaN, the function returns, and
// the rest of the lanes is interpreted, whose rules for NaNs the CPU does not have. It also returns where a lane loads
// beyond LDS, or memory that is not in the Tlb. A host fault in it leaves Frame::done_bytes and the masks. Loads of LDS
// can be in a stretch because no store is: the parts run one after the other. Pure. Thread safety: no state. Source:
// System V ABI for x86-64.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/kfdemu/jit/frame.hpp"
#include "tools/kfdemu/jit/run_plan.hpp"

namespace kfdemu::jit {

/// Wave::v, Wave::s, EXEC. Returns the number of lanes that are done, from lane 0 on. If that is all of them, `s` has
/// the stretch's masks and numbers; if it is more, nothing is done; else Frame::s has the masks of these lanes.
using Translated = std::uint64_t (*)(std::uint32_t* v, std::uint32_t* s, std::uint64_t exec, Frame* frame);

/// Position-independent code.
std::vector<std::uint8_t> translate(const Stretch& stretch, Width width);

}  // namespace kfdemu::jit
