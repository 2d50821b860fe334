// Where a buffer ends for a lane ("Vega" ISA manual, "Vector Memory Buffer Instructions"; OOB_SELECT: "RDNA 2" ISA
// manual, "Buffer resource descriptor").
//
//     const Limit limit = limit_of(words, inst.has(kIdxen), wave.unified_formats);
//     const std::uint32_t left = bytes_left({limit, stride, records}, soffset, index, offset);
//
// Pure.
#pragma once

#include <cstdint>

namespace kfdemu::isa {

/// What NUM_RECORDS counts, and whether offsets end at the stride; or it only says that there is something.
enum class Limit : std::uint8_t { Bytes, Records, RecordsAndStride, Any };

/// `words`: the resource. Structured buffers of GFX9 are checked in whole records, raw buffers in bytes.
constexpr Limit limit_of(const std::uint32_t* words, bool idxen, bool unified_formats) {
    constexpr Limit kSelected[] = {Limit::RecordsAndStride, Limit::Records, Limit::Any, Limit::Bytes};
    if (unified_formats) return kSelected[words[3] >> 28 & 3];
    const bool swizzled = (words[1] >> 31) != 0, has_stride = (words[1] >> 16 & 0x3fff) != 0,
               extended = (words[3] >> 23 & 1) != 0 && (words[3] >> 15 & 0xf) != 0;
    return swizzled || ((has_stride || extended) && idxen) ? Limit::Records : Limit::Bytes;
}

struct BufferEnd {
    Limit limit;
    std::uint32_t stride, records;
};

/// From a lane's address on; ~0: what NUM_RECORDS counts is not bytes, and the lane is inside.
constexpr std::uint32_t bytes_left(const BufferEnd& b, std::uint32_t soffset, std::uint32_t index,
                                   std::uint32_t offset) {
    if (b.limit != Limit::Bytes) {
        const bool in_record = b.limit != Limit::RecordsAndStride || offset < b.stride;
        const bool inside = b.limit == Limit::Any ? b.records != 0 : index < b.records && in_record;
        return inside ? ~0u : 0;
    }
    const std::uint32_t end = b.records > soffset ? b.records - soffset : 0;
    const std::uint64_t from_base = std::uint64_t{b.stride} * index + offset;
    return from_base < end ? end - static_cast<std::uint32_t>(from_base) : 0;
}

}  // namespace kfdemu::isa
