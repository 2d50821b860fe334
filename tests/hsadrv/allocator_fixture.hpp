// Fixture of the caching allocator's tests.
#pragma once

#include <algorithm>

#include "hsadrv/allocator.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

namespace device_test {

constexpr std::size_t mib = 1u << 20;

struct Allocating : Device {
    hsadrv::Allocator allocator{hsadrv::device_pool(gpu)};
    hsadrv::Stream a{gpu}, b{gpu};
    hsadrv::Allocation pinned = hsadrv::Allocation::from_pool(hsadrv::host_pool(), 8 * mib);

    /// Writes the block's first bytes, in the stream's order.
    void use(hsadrv::Stream& stream, const hsadrv::Block& block) {
        stream.copy_async(block.data(), pinned.data(), std::min<std::size_t>(block.size_bytes(), 4096));
    }
};

}  // namespace device_test
