// Lane addresses of a buffer instruction, and its range check ("Vega" ISA manual, "Vector Memory Buffer Instructions").
//
//     Lanewise lanes;
//     if (!buffer_lanes(wave, inst, buffer_of(wave, inst), lanes)) return nullptr;
//     lanes.access.mask = lanes_inside(lanes, bytes);
//
// For executor files only, like lane_access.hpp.
#pragma once

#include "tools/kfdemu/isa/memory/buffer_resource.hpp"
#include "tools/kfdemu/isa/memory/scratch_access.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// Four SGPRs.
KFDEMU_INLINE Resource buffer_of(const Wave& wave, const Inst& inst) {
    return resource_of(wave.s + inst.src[2], inst.has(kIdxen), {wave.unified_formats, wave.fewer_formats});
}

/// The address of each lane's data, and which lanes have all `bytes` inside the buffer.
struct Lanewise {
    LaneAccess access;
    alignas(64) std::uint32_t bytes_left[kLanes];  ///< linear buffers: bytes from the lane's address to the end
};

/// The descriptor that runtimes build for scratch: the index is the lane number, and the index stride is the number of
/// lanes.
void scratch_segment_addresses(std::uint64_t base, const std::uint32_t* lane_offset, std::uint32_t offset,
                               Lanewise& out) {
    if (lane_offset != nullptr)
        for (unsigned l = 0; l < kLanes; ++l) out.access.at[l] = scratch_address(base, lane_offset[l] + offset, l);
    else
        for (unsigned l = 0; l < kLanes; ++l) out.access.at[l] = scratch_address(base, offset, l);
    for (unsigned l = 0; l < kLanes; ++l) out.bytes_left[l] = ~0u;
}

[[gnu::noinline]] void buffer_addresses(Wave& wave, const Inst& inst, const Resource& b, Lanewise& out) {
    const std::uint32_t index_stride = 1u << b.index_shift;
    const bool swizzle = b.element_bytes != 0;
    const std::uint32_t scalar_offset = wave.s[inst.sdst];
    const bool idxen = inst.has(kIdxen), offen = inst.has(kOffen);
    const std::uint32_t* vaddr = lanes_of(wave, inst.src[0]);
    const std::uint32_t* voffset = idxen ? vaddr + kLanes : vaddr;
    const std::uint64_t base = b.base + scalar_offset;
    if (swizzle && b.add_lane && !idxen && index_stride == kLanes && b.records >= kLanes)
        return scratch_segment_addresses(base, offen ? voffset : nullptr, static_cast<std::uint32_t>(inst.offset), out);
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint32_t index = (idxen ? vaddr[l] : 0) + (b.add_lane ? l : 0);
        const std::uint32_t offset = (offen ? voffset[l] : 0) + static_cast<std::uint32_t>(inst.offset);
        const std::uint64_t from_base = std::uint64_t{b.stride} * index + offset;
        if (swizzle) {
            const std::uint64_t msb =
                std::uint64_t{index >> b.index_shift} * b.stride + (offset & ~(kElementBytes - 1));
            out.access.at[l] = base + msb * index_stride + (index & (index_stride - 1)) * kElementBytes +
                               (offset & (kElementBytes - 1));
        } else {
            out.access.at[l] = base + from_base;
        }
        out.bytes_left[l] = bytes_left(b, scalar_offset, index, offset);
    }
}

/// The lanes with at least `bytes` left.
[[gnu::noinline]] std::uint64_t lanes_inside(const Lanewise& lanes, unsigned bytes) {
    std::uint64_t mask = 0;
    for (unsigned l = 0; l < kLanes; ++l) mask |= std::uint64_t{lanes.bytes_left[l] >= bytes} << l;
    return mask & lanes.access.mask;
}

/// Fills in the addresses and the bytes left for all active lanes. False: the instruction stopped.
KFDEMU_INLINE bool buffer_lanes(Wave& wave, const Inst& inst, const Resource& b, Lanewise& lanes) {
    if (b.element_bytes > kElementBytes) {
        wave.stop_at(Stop::Illegal, inst);
        return false;
    }
    lanes.access.mask = exec_of(wave);
    lanes.access.dword_stride = b.element_bytes != 0 ? kElementBytes << b.index_shift : 4;
    buffer_addresses(wave, inst, b, lanes);
    return true;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
