// The memory of a cooperative launch, in which its work-groups meet. Host and kernels agree on it.
//
// The first 48 bytes are what ROCm's device library reads (mg_info, of one grid), so that HIP kernels compiled for a
// target without GWS (gfx94x, gfx11) synchronise through it as well. Plain values. Thread safety: kernels change the
// counters by atomics; the host changes nothing while a kernel runs.
#pragma once

#include "cpp20.hpp"

#include <stdint.h>

namespace hsadrv::shared {

struct GridState {
    uint64_t grids;          ///< the address of grids_meet
    uint32_t grid_number;    ///< 0
    uint32_t grid_count;     ///< 1
    uint64_t items_before;   ///< 0
    uint64_t items;          ///< work-items of the launch
    uint32_t meet[2];        ///< of the device library: zero at first, and kept between launches
    uint32_t workgroups;     ///< of the launch
    uint32_t arrived;        ///< work-groups at the barrier; zero between barriers
    uint32_t passed;         ///< barriers so far; wraps
    uint32_t grids_meet[2];  ///< of the device library
    uint32_t reserved;
};
static_assert(sizeof(GridState) == 64 && __builtin_offsetof(GridState, meet) == 32 &&
              __builtin_offsetof(GridState, workgroups) == 40);

}  // namespace hsadrv::shared
