// Which work-group size gives a compute unit the highest occupancy, as in cudaOccupancyMaxPotentialBlockSize:
// arithmetic on compute_unit.hpp's table.
//
//     constexpr auto unit = hsadrv::shared::compute_unit("gfx90a");
//     constexpr auto size = suggest_group_size(unit, {.vgprs = 40, .sgprs = 32}, 1024);  // no LDS
//     constexpr auto tile = suggest_group_size(unit, {.vgprs = 40, .lds_bytes = 512}, 1024, 16);  // plus 16 per item
//     static_assert(size.workgroup_workitems == 256 && size.occupancy.waves_per_simd == 8);
//
// For a kernel of a loaded code object use hsadrv/kernel_occupancy.hpp, which knows its limits. Freestanding: compiles
// for the host and for amdgcn. Values only: any thread may use any object. Nothing here allocates or throws.
#pragma once

#include <stdint.h>

#include "occupancy.hpp"

namespace hsadrv::shared {

struct GroupSize {
    uint32_t workgroup_workitems = 0;  ///< 0: no size fits
    Occupancy occupancy;
};

/// The size of at most `max_workitems` that puts the most work-items on a compute unit at once. Of equally good sizes
/// it is the smallest with a wave for every SIMD, because its work-items wait for each other least; else the largest.
/// Candidates are the multiples of the wavefront size, and `max_workitems` itself. `lds_bytes_of(n)`, a uint32_t, is
/// the LDS of a work-group of n work-items, static and dynamic. The LDS and the work-group size in `kernel` are
/// ignored.
template <class LdsOf>
    requires requires(const LdsOf& lds_bytes_of, uint32_t n) { uint32_t{lds_bytes_of(n)}; }
constexpr GroupSize suggest_group_size(const ComputeUnit& unit, KernelResources kernel, uint32_t max_workitems,
                                       const LdsOf& lds_bytes_of) {
    const uint32_t last = detail::smaller(max_workitems, unit.max_workgroup_workitems);
    const uint32_t simds = unit.simds * detail::units_of(unit, kernel);
    GroupSize best;
    uint32_t most = 0;
    for (uint32_t size = 0; size < last;) {
        size = detail::smaller(size + kernel.wavefront_size, last);
        kernel.workgroup_workitems = size;
        kernel.lds_bytes = lds_bytes_of(size);
        const Occupancy held = occupancy(unit, kernel);
        const uint32_t workitems = held.workgroups * size;
        if (workitems < most || workitems == 0) continue;
        if (workitems == most && best.occupancy.waves_per_workgroup >= simds) continue;
        most = workitems;
        best = {size, held};
    }
    return best;
}

/// With the kernel's `lds_bytes` plus `lds_bytes_per_workitem` for each work-item of a work-group.
constexpr GroupSize suggest_group_size(const ComputeUnit& unit, const KernelResources& kernel, uint32_t max_workitems,
                                       uint32_t lds_bytes_per_workitem = 0) {
    return suggest_group_size(unit, kernel, max_workitems, [&](uint32_t workitems) {
        const uint64_t bytes = kernel.lds_bytes + uint64_t{lds_bytes_per_workitem} * workitems;
        return bytes > 0xffffffffu ? 0xffffffffu : static_cast<uint32_t>(bytes);
    });
}

}  // namespace hsadrv::shared
