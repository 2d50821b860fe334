// Accesses of one byte by two kernels that have ended, or by such a kernel and a copy, at least one of them a write.
//
//     for (const ShadowConflict& conflict : conflicts(first, second)) …
//
// At most one for an instruction of the second kernel. Atomics, loads that look for what others wrote, and two stores
// of one value are no conflicts; kernels that both synchronise through one address have none. `matters` tells of which
// dwords conflicts count. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/kfdemu/check/race/box.hpp"
#include "tools/kfdemu/check/race/memory_shadow.hpp"

namespace kfdemu::check {

struct ShadowConflict {
    MemoryShadow::Record first, second;
    bool first_writes = false, second_writes = false;
    std::uint64_t va = 0;  ///< of the dword
};
struct BoxConflict {
    MemoryShadow::Record access;
    bool access_writes = false;
    std::uint64_t va = 0;
};

using Matters = std::function<bool(std::uint64_t va)>;

std::vector<ShadowConflict> conflicts(MemoryShadow& first, MemoryShadow& second);
/// Reads of what the first kernel has written, and the second one has not; no atomics.
std::vector<ShadowConflict> reads_of_writes(MemoryShadow& first, MemoryShadow& second, const Matters& matters);
/// With what a copy reads or writes.
std::vector<BoxConflict> conflicts(
    MemoryShadow& shadow, const Box& box, bool box_is_written,
    const Matters& matters = [](std::uint64_t) { return true; });

}  // namespace kfdemu::check
