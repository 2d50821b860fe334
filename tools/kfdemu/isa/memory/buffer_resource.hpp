// A buffer resource, and where it ends for a lane ("Vega" ISA manual, "Vector Memory Buffer Instructions"; OOB_SELECT:
// "RDNA 2" ISA manual, "Buffer resource descriptor"; SWIZZLE_ENABLE of two bits: "RDNA 3" ISA manual, likewise).
//
//     const Resource resource = resource_of(words, inst.has(kIdxen), {wave.unified_formats, wave.fewer_formats});
//     const std::uint32_t left = bytes_left(resource, soffset, index, offset);
//
// Pure.
#pragma once

#include <cstdint>

namespace kfdemu::isa {

/// What NUM_RECORDS counts, and whether offsets end at the stride; or it only says that there is something.
enum class Limit : std::uint8_t { Bytes, Records, RecordsAndStride, Any };

/// Whose fields it has: neither is GFX9, `gfx10` alone GFX10, both GFX11.
struct ResourceFields {
    bool gfx10, gfx11;
};

struct Resource {
    std::uint64_t base;
    std::uint32_t stride, records;
    std::uint32_t index_shift;    ///< the binary logarithm of the index stride
    std::uint32_t element_bytes;  ///< that a swizzled buffer keeps together; 0: it is linear
    bool add_lane;
    Limit limit;
};

constexpr std::uint32_t kElementBytes = 4;  ///< the only size that is executed

/// `words`: the resource. Structured buffers of GFX9 are checked in whole records, raw buffers in bytes.
constexpr Resource resource_of(const std::uint32_t* words, bool idxen, ResourceFields fields) {
    Resource r{};
    r.base = words[0] | std::uint64_t{words[1] & 0xffff} << 32;
    r.records = words[2];
    r.index_shift = 3 + (words[3] >> 21 & 3);
    r.add_lane = (words[3] >> 23 & 1) != 0;
    const std::uint32_t swizzle = words[1] >> 30;
    if (fields.gfx11)
        r.element_bytes = swizzle == 0 ? 0 : 2u << swizzle;
    else
        r.element_bytes = swizzle >= 2 ? kElementBytes : 0;
    // With ADD_TID_ENABLE the data format field of GFX9 extends the stride.
    const bool extends = r.add_lane && !fields.gfx10;
    r.stride = (words[1] >> 16 & 0x3fff) | (extends ? (words[3] >> 15 & 0xf) << 14 : 0);
    constexpr Limit kSelected[] = {Limit::RecordsAndStride, Limit::Records, Limit::Any, Limit::Bytes};
    if (fields.gfx10)
        r.limit = kSelected[words[3] >> 28 & 3];
    else
        r.limit = r.element_bytes != 0 || (r.stride != 0 && idxen) ? Limit::Records : Limit::Bytes;
    return r;
}

/// From a lane's address on; ~0: what NUM_RECORDS counts is not bytes, and the lane is inside.
constexpr std::uint32_t bytes_left(const Resource& r, std::uint32_t soffset, std::uint32_t index,
                                   std::uint32_t offset) {
    if (r.limit != Limit::Bytes) {
        const bool in_record = r.limit != Limit::RecordsAndStride || offset < r.stride;
        const bool inside = r.limit == Limit::Any ? r.records != 0 : index < r.records && in_record;
        return inside ? ~0u : 0;
    }
    const std::uint32_t end = r.records > soffset ? r.records - soffset : 0;
    const std::uint64_t from_base = std::uint64_t{r.stride} * index + offset;
    return from_base < end ? end - static_cast<std::uint32_t>(from_base) : 0;
}

}  // namespace kfdemu::isa
