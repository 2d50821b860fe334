// Scratch addresses: the layout of a wave's private segments in the queue's scratch memory.
//
//     scratch_addresses(wave, offsets, access);          // LaneAccess for private byte offsets
//
// Each dword of a lane's private segment is followed by the same dword of the other lanes ("Vega" ISA manual,
// "Scratch: swizzled addressing"; the runtime's resource descriptor agrees: index stride 64, element 4 bytes). For
// executor files only.
#pragma once

#include "tools/kfdemu/isa/memory/lane_access.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The address of byte `offset` of the private segment of `lane`; base is the wave's, i.e. FLAT_SCRATCH.
KFDEMU_INLINE std::uint64_t scratch_address(std::uint64_t base, std::uint32_t offset, unsigned lane) {
    return base + std::uint64_t{offset & ~3u} * kLanes + lane * 4 + (offset & 3);
}

/// Whether the access stays in the wave's own scratch memory. Hardware would silently access another wave's; kfdemu
/// reports a fault.
[[gnu::noinline]] bool in_own_scratch(Wave& wave, const Inst& inst, const LaneAccess& a, unsigned bytes,
                                      std::uint32_t access) {
    const std::uint64_t last_dword = (bytes - 1) / 4 * std::uint64_t{a.dword_stride};
    const std::uint64_t end =
        wave.scratch_size_bytes - (last_dword < wave.scratch_size_bytes ? last_dword : wave.scratch_size_bytes);
    if (all_inside<std::uint64_t>(a.at, a.mask, wave.scratch_va, end, 1)) return true;
    for (std::uint64_t rest = a.mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        if (a.at[lane] - wave.scratch_va >= end) {
            wave.fault_at(Stop::Aperture, inst, {a.at[lane], lane, access});
            break;
        }
    }
    return false;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
