// A kernel dispatch but for its arguments, which Stream::dispatch places.
//
// Thread safety: a plain value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hsadrv/packet.hpp"

namespace hsadrv {

struct DispatchSpec {
    std::uint64_t kernel_object = 0;
    Dim3 grid = {};       ///< work-items
    Dim3 workgroup = {};  ///< work-items
    std::uint32_t private_segment_bytes = 0;
    std::uint32_t group_segment_bytes = 0;
    std::size_t kernarg_bytes = 0;
    bool names_queue = false;  ///< the arguments hold the address of the stream's queue
};

}  // namespace hsadrv
