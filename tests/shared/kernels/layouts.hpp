// Layouts that tests compute on the host and on the device.
#pragma once

#include <shared/lds_layout.hpp>

struct Pair {
    float left, right;
};

constexpr auto mixed_layout(uint32_t n, uint32_t m) {
    using namespace hsadrv::shared;
    return lds_layout(lds_array<float>(n, m), lds_array<unsigned char>(n), lds_array<Pair>(m).aligned<32>(),
                      lds_array<uint64_t>(n, 2, m), lds_array<uint16_t>(m));
}

/// A work-item's view of the grid, in the order in which the kernels write it.
struct WorkItem {
    uint32_t global_id[4], local_id[4], group_id[4], global_size[4], local_size[4], num_groups[4];
};
