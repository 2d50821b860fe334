// How many work-groups of a kernel a compute unit holds at once, which resource limits that, and how much of each
// resource the kernel may use: arithmetic on compute_unit.hpp's table.
//
//     constexpr auto unit = hsadrv::shared::compute_unit("gfx90a");
//     constexpr auto held = occupancy(unit, {.vgprs = 128, .sgprs = 32, .workgroup_workitems = 256});
//     static_assert(held.waves_per_simd == 4 && held.limit == OccupancyLimit::vgprs);
//     static_assert(allowance(unit, {.workgroup_workitems = 256}, held.workgroups + 1).vgprs == 96);
//
// On RDNA (gfx10 and newer) a kernel compiled for work-group processor mode, the compilers' default, shares the
// four SIMDs and the LDS of two compute units; the figures are then for such a pair. Scratch memory, which limits
// waves on the device as a whole, is not counted.
//
// Clang's figure (-Rpass-analysis=kernel-resource-usage, "Occupancy [waves/SIMD]") has another definition;
// compiler_waves_per_simd() computes it (LLVM 16 to 19, GCNSubtarget::computeOccupancy). It is never less than
// occupancy()'s figure for the same work-group and LDS, and more in these cases:
// - Registers: it counts single waves, and gives 7 if a SIMD has registers for 7 waves. If work-groups have 16 waves,
//   only one work-group fits then: 4 waves per SIMD.
// - Scalar registers: it divides 800 by the count, but allocation is in multiples of 16 (AMDGPUUsage,
//   GRANULATED_WAVEFRONT_SGPR_COUNT): 81 to 88 become 96, so 8 waves fit and not 9; 97 to 100 become 112, so 7 not 8.
// - LDS: it divides by the bytes, but allocation is in multiples of 512 or 1024; and it knows only static LDS.
// - Work-group size: it cannot know the launch's, and takes the largest that the kernel was compiled for
//   (`.max_flat_workgroup_size`); LLVM 20 and newer take the best of the sizes that it was compiled for.
//
// Freestanding: compiles for the host and for amdgcn. Values only: any thread may use any object. Nothing here
// allocates or throws.
#pragma once

#include <stdint.h>

#include "compute_unit.hpp"

namespace hsadrv::shared {

/// A kernel's use of resources, as in its metadata: `.vgpr_count`, `.agpr_count`, ….
struct KernelResources {
    uint32_t vgprs = 0;      ///< as `.vgpr_count`: includes AGPRs in a unified file; see vgpr_count()
    uint32_t sgprs = 0;      ///< as `.sgpr_count`: includes VCC and similar
    uint32_t lds_bytes = 0;  ///< of a work-group, static and dynamic
    uint32_t workgroup_workitems = 64;
    uint32_t wavefront_size = 64;
    bool workgroup_processor_mode = false;
    uint32_t agprs = 0;  ///< as `.agpr_count`
};

/// The resource that limits the number of work-groups on a compute unit. If VGPRs and AGPRs share a file, the limit is
/// named after the larger part of it.
/// workgroup_size: the work-group has more work-items than the maximum.
enum class OccupancyLimit : uint8_t { wave_slots, workgroup_slots, vgprs, agprs, sgprs, lds, workgroup_size };

struct Occupancy {
    uint32_t workgroups = 0;  ///< at once on a compute unit (a pair in work-group processor mode); 0: not one fits
    uint32_t waves_per_workgroup = 0;
    uint32_t waves = 0;           ///< of all these work-groups
    uint32_t waves_per_simd = 0;  ///< of the fullest SIMD
    uint32_t max_waves_per_simd = 0;
    uint32_t compute_units = 1;  ///< included in the figures: 2 for such a pair
    OccupancyLimit limit = OccupancyLimit::wave_slots;
};

/// The maximum of each resource.
struct Allowance {
    uint32_t vgprs = 0;  ///< as in KernelResources
    uint32_t agprs = 0;  ///< 0 if the target has none; in a unified file they are part of vgprs
    uint32_t sgprs = 0;
    uint32_t lds_bytes = 0;
};

namespace detail {

constexpr uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

constexpr uint32_t ceil_div(uint32_t a, uint32_t b) { return a / b + (a % b != 0); }

constexpr uint32_t round_up(uint32_t value, uint32_t granule) {
    return value > 0xffffffffu - granule ? value : ceil_div(value, granule) * granule;
}

/// How often `share` fits into `all`, at most `most`; a share of 0 is no limit.
constexpr uint32_t fits(uint32_t all, uint32_t share, uint32_t most) {
    return share == 0 ? most : smaller(all / share, most);
}

/// The number of compute units that a work-group of the kernel uses.
constexpr uint32_t units_of(const ComputeUnit& unit, const KernelResources& kernel) {
    return kernel.workgroup_processor_mode && unit.wide_registers ? 2 : 1;
}

constexpr bool mostly_agprs(const ComputeUnit& unit, const KernelResources& kernel) {
    if (unit.unified_vgprs) return kernel.agprs > kernel.vgprs / 2;
    return unit.agprs && kernel.agprs && kernel.agprs >= kernel.vgprs;
}

}  // namespace detail

/// The `.vgpr_count` of a kernel with `vgprs` ordinary and `agprs` accumulation registers. In a unified file the latter
/// start at a multiple of 4 (AMDGPUUsage, ACCUM_OFFSET); with separate files the larger number counts.
constexpr uint32_t vgpr_count(const ComputeUnit& unit, uint32_t vgprs, uint32_t agprs) {
    if (unit.unified_vgprs && agprs) return detail::round_up(vgprs, 4) + agprs;
    return vgprs > agprs ? vgprs : agprs;
}

/// The number of waves per SIMD that the vector registers allow.
constexpr uint32_t waves_by_vgprs(const ComputeUnit& unit, uint32_t vgprs, uint32_t wavefront_size) {
    const uint32_t width = unit.width(wavefront_size);
    if (vgprs > unit.vgprs_of_wave) return 0;
    return detail::fits(unit.vgprs * width, detail::round_up(vgprs, unit.vgpr_granule * width),
                        unit.max_waves_per_simd);
}
constexpr uint32_t waves_by_agprs(const ComputeUnit& unit, uint32_t agprs) {
    if (unit.agprs == 0) return unit.max_waves_per_simd;
    return detail::fits(unit.agprs, detail::round_up(agprs, unit.vgpr_granule), unit.max_waves_per_simd);
}
constexpr uint32_t waves_by_sgprs(const ComputeUnit& unit, uint32_t sgprs) {
    if (unit.sgprs == 0) return unit.max_waves_per_simd;
    return detail::fits(unit.sgprs, detail::round_up(sgprs, unit.sgpr_granule), unit.max_waves_per_simd);
}

/// Requires a known `unit` and at least one work-item in `kernel`.
constexpr Occupancy occupancy(const ComputeUnit& unit, const KernelResources& kernel) {
    using enum OccupancyLimit;
    const uint32_t units = detail::units_of(unit, kernel);
    const uint32_t simds = unit.simds * units;
    Occupancy result;
    result.waves_per_workgroup = detail::ceil_div(kernel.workgroup_workitems, kernel.wavefront_size);
    result.max_waves_per_simd = unit.max_waves_per_simd;
    result.compute_units = units;
    result.workgroups = simds * unit.max_waves_per_simd / result.waves_per_workgroup;

    const auto limit = [&](uint32_t workgroups, OccupancyLimit by) {
        if (workgroups >= result.workgroups) return;
        result.workgroups = workgroups;
        result.limit = by;
    };
    // A single wave needs no barrier.
    if (result.waves_per_workgroup > 1) limit(unit.barrier_slots * units, workgroup_slots);
    const uint32_t by_vectors =
        detail::smaller(waves_by_vgprs(unit, kernel.vgprs, kernel.wavefront_size), waves_by_agprs(unit, kernel.agprs));
    limit(simds * by_vectors / result.waves_per_workgroup, detail::mostly_agprs(unit, kernel) ? agprs : vgprs);
    limit(simds * waves_by_sgprs(unit, kernel.sgprs) / result.waves_per_workgroup, sgprs);
    const uint32_t lds_share = detail::round_up(kernel.lds_bytes, unit.lds_granule_bytes);
    limit(lds_share > unit.lds_bytes ? 0 : detail::fits(unit.lds_bytes * units, lds_share, result.workgroups), lds);
    if (kernel.workgroup_workitems > unit.max_workgroup_workitems) limit(0, workgroup_size);

    result.waves = result.workgroups * result.waves_per_workgroup;
    result.waves_per_simd = detail::ceil_div(result.waves, simds);
    return result;
}

namespace detail {
/// The occupancy that the slots alone allow.
constexpr Occupancy by_slots(const ComputeUnit& unit, const KernelResources& kernel) {
    return occupancy(unit, {.workgroup_workitems = kernel.workgroup_workitems,
                            .wavefront_size = kernel.wavefront_size,
                            .workgroup_processor_mode = kernel.workgroup_processor_mode});
}
}  // namespace detail

/// The largest possible work-group of the kernel in work-items, a multiple of the wavefront size; its
/// workgroup_workitems is ignored. 0: the kernel needs more LDS or registers than there are.
constexpr uint32_t largest_workgroup(const ComputeUnit& unit, KernelResources kernel) {
    for (uint32_t size = unit.max_workgroup_workitems; size >= kernel.wavefront_size; size -= kernel.wavefront_size) {
        kernel.workgroup_workitems = size;
        if (occupancy(unit, kernel).workgroups) return size;
    }
    return 0;
}

/// The most of each resource with which a compute unit holds `workgroups` work-groups of the kernel's size at once; the
/// kernel's current use is ignored. All 0 if the slots do not allow that many.
constexpr Allowance allowance(const ComputeUnit& unit, const KernelResources& kernel, uint32_t workgroups) {
    const Occupancy most = detail::by_slots(unit, kernel);
    if (workgroups == 0 || workgroups > most.workgroups) return {};
    const uint32_t units = detail::units_of(unit, kernel);
    const uint32_t waves = detail::ceil_div(workgroups * most.waves_per_workgroup, unit.simds * units);
    const auto share = [](uint32_t all, uint32_t among, uint32_t granule) { return all / among / granule * granule; };
    const uint32_t width = unit.width(kernel.wavefront_size);

    Allowance result;
    result.vgprs = detail::smaller(share(unit.vgprs * width, waves, unit.vgpr_granule * width), unit.vgprs_of_wave);
    result.agprs =
        unit.unified_vgprs ? detail::smaller(result.vgprs, 256) : share(unit.agprs, waves, unit.vgpr_granule);
    result.sgprs = unit.sgprs_of_wave;
    if (unit.sgprs) result.sgprs = detail::smaller(share(unit.sgprs, waves, unit.sgpr_granule), unit.sgprs_of_wave);
    result.lds_bytes = detail::smaller(share(unit.lds_bytes * units, workgroups, unit.lds_granule_bytes),
                                       unit.lds_bytes / unit.lds_granule_bytes * unit.lds_granule_bytes);
    return result;
}

namespace detail {
/// The compiler's table (GCNSubtarget::getOccupancyWithNumSGPRs) as arithmetic.
constexpr uint32_t compiler_waves_by_sgprs(const ComputeUnit& unit, uint32_t sgprs) {
    if (unit.sgprs == 0) return unit.max_waves_per_simd;
    const bool gfx7 = unit.sgprs == 512;
    const uint32_t waves = fits(unit.sgprs, gfx7 ? round_up(sgprs, 8) : sgprs, unit.max_waves_per_simd);
    const uint32_t fewest = gfx7 ? 5 : 7;
    return waves > fewest ? waves : fewest;
}
}  // namespace detail

/// The compiler's figure: see above. `kernel` is as the compiler sees it: static LDS, and the largest work-group that
/// it was compiled for.
constexpr uint32_t compiler_waves_per_simd(const ComputeUnit& unit, const KernelResources& kernel) {
    const Occupancy slots = detail::by_slots(unit, kernel);
    const uint32_t units = detail::units_of(unit, kernel);
    const uint32_t workgroups = detail::fits(unit.lds_bytes * units, kernel.lds_bytes, slots.workgroups);
    uint32_t waves = detail::ceil_div(workgroups * slots.waves_per_workgroup, unit.simds * units);
    waves = detail::smaller(waves, waves_by_vgprs(unit, kernel.vgprs, kernel.wavefront_size));
    waves = detail::smaller(waves, waves_by_agprs(unit, kernel.agprs));
    waves = detail::smaller(waves, detail::compiler_waves_by_sgprs(unit, kernel.sgprs));
    return waves ? waves : 1;
}

/// "vector registers", "LDS", …, for messages.
constexpr const char* to_string(OccupancyLimit limit) {
    switch (limit) {
        case OccupancyLimit::workgroup_slots:
            return "work-group slots";
        case OccupancyLimit::vgprs:
            return "vector registers";
        case OccupancyLimit::agprs:
            return "accumulation registers";
        case OccupancyLimit::sgprs:
            return "scalar registers";
        case OccupancyLimit::lds:
            return "LDS";
        case OccupancyLimit::workgroup_size:
            return "the work-group's size";
        default:
            return "wave slots";
    }
}

}  // namespace hsadrv::shared
