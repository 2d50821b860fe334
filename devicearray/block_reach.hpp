// Internal: how many bytes of a memory block are before and after an address.
//
//     const BlockReach reach(pointer_info(data), data);
//     reach.holds(layout.extent());                      // does the block contain all bytes of an array?
//
// A value; pure. Both are 0 for pageable memory, which the runtime does not know.
#pragma once

#include <cstdint>

#include "devicearray/layout.hpp"
#include "hsadrv/memory.hpp"

namespace hsadrv::detail {

struct BlockReach {
    std::int64_t before_bytes, after_bytes;

    BlockReach(const PointerInfo& info, const void* address)
        : before_bytes(static_cast<std::int64_t>(info.size_bytes - info.bytes_after(address))),
          after_bytes(static_cast<std::int64_t>(info.bytes_after(address))) {}

    bool holds(const ByteRange& range) const { return -range.begin <= before_bytes && range.end <= after_bytes; }
};

}  // namespace hsadrv::detail
