// Lane addresses of a buffer instruction, and its range check ("Vega" ISA manual, "Vector Memory Buffer Instructions").
//
//     Lanewise lanes;
//     buffer_lanes(wave, inst, buffer_of(wave, inst), lanes);
//     lanes.access.mask = lanes_inside(lanes, bytes);
//
// For executor files only, like lane_access.hpp.
#pragma once

#include "tools/kfdemu/isa/memory/buffer_limit.hpp"
#include "tools/kfdemu/isa/memory/scratch_access.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The buffer resource descriptor: four SGPRs.
struct Buffer {
    std::uint64_t base;
    std::uint32_t stride, num_records, index_stride, index_shift;
    bool swizzle, add_lane;
    Limit limit;
};

KFDEMU_INLINE Buffer buffer_of(const Wave& wave, const Inst& inst) {
    const std::uint32_t* const word = wave.s + inst.src[2];
    Buffer b;
    b.base = word[0] | std::uint64_t{word[1] & 0xffff} << 32;
    b.swizzle = (word[1] >> 31) != 0;
    b.add_lane = (word[3] >> 23 & 1) != 0;
    // With ADD_TID_ENABLE the data format field of GFX9 extends the stride.
    const bool extended = b.add_lane && !wave.unified_formats;
    b.stride = (word[1] >> 16 & 0x3fff) | (extended ? (word[3] >> 15 & 0xf) << 14 : 0);
    b.num_records = word[2];
    b.index_shift = 3 + (word[3] >> 21 & 3);
    b.index_stride = 1u << b.index_shift;
    b.limit = limit_of(word, inst.has(kIdxen), wave.unified_formats);
    return b;
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

[[gnu::noinline]] void buffer_addresses(Wave& wave, const Inst& inst, const Buffer& b, Lanewise& out) {
    constexpr std::uint32_t kElementBytes = 4;  // the only size
    const std::uint32_t scalar_offset = wave.s[inst.sdst];
    const bool idxen = inst.has(kIdxen), offen = inst.has(kOffen);
    const std::uint32_t* vaddr = lanes_of(wave, inst.src[0]);
    const std::uint32_t* voffset = idxen ? vaddr + kLanes : vaddr;
    const std::uint64_t base = b.base + scalar_offset;
    if (b.swizzle && b.add_lane && !idxen && b.index_stride == kLanes && b.num_records >= kLanes)
        return scratch_segment_addresses(base, offen ? voffset : nullptr, static_cast<std::uint32_t>(inst.offset), out);
    const BufferEnd end{b.limit, b.stride, b.num_records};
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint32_t index = (idxen ? vaddr[l] : 0) + (b.add_lane ? l : 0);
        const std::uint32_t offset = (offen ? voffset[l] : 0) + static_cast<std::uint32_t>(inst.offset);
        const std::uint64_t from_base = std::uint64_t{b.stride} * index + offset;
        if (b.swizzle) {
            const std::uint64_t msb =
                std::uint64_t{index >> b.index_shift} * b.stride + (offset & ~(kElementBytes - 1));
            out.access.at[l] = base + msb * b.index_stride + (index & (b.index_stride - 1)) * kElementBytes +
                               (offset & (kElementBytes - 1));
        } else {
            out.access.at[l] = base + from_base;
        }
        out.bytes_left[l] = bytes_left(end, scalar_offset, index, offset);
    }
}

/// The lanes with at least `bytes` left.
[[gnu::noinline]] std::uint64_t lanes_inside(const Lanewise& lanes, unsigned bytes) {
    std::uint64_t mask = 0;
    for (unsigned l = 0; l < kLanes; ++l) mask |= std::uint64_t{lanes.bytes_left[l] >= bytes} << l;
    return mask & lanes.access.mask;
}

/// Fills in the addresses and the bytes left for all active lanes.
KFDEMU_INLINE void buffer_lanes(Wave& wave, const Inst& inst, const Buffer& b, Lanewise& lanes) {
    lanes.access.mask = exec_of(wave);
    lanes.access.dword_stride = b.swizzle ? 4 * b.index_stride : 4;
    buffer_addresses(wave, inst, b, lanes);
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
