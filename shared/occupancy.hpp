// How many work-groups of a kernel a compute unit holds at once, and which resource keeps it from holding
// more: a pure table of what each gfx target's compute units have, and arithmetic.
//
//     constexpr auto unit = hsadrv::shared::compute_unit("gfx90a");
//     constexpr auto held = hsadrv::shared::occupancy(unit, {.vgprs = 128, .sgprs = 32, .workgroup_workitems
//     = 256}); static_assert(held.waves_per_simd == 4 && held.limit == OccupancyLimit::vgprs);
//
// On RDNA (gfx10 and newer) a kernel compiled for work-group processor mode, which is the compilers' default,
// shares the four SIMDs and the LDS of two compute units; what is counted is such a pair then. Freestanding:
// compiles for the host and for amdgcn. Values only: any thread may use any object. Nothing here allocates or
// throws. Sources: LLVM AMDGPUUsage (Kernel Descriptor, the granules) and the limits that its IsaInfo
// functions state; RDNA and CDNA ISA guides.
#pragma once

#include <stdint.h>

namespace hsadrv::shared {

/// What one compute unit has. Registers are counted as a lane sees them; a 32-wide wave of RDNA has twice as
/// many.
struct ComputeUnit {
    uint32_t simds = 0;  ///< 0: a target that is not known
    uint32_t max_waves_per_simd = 0;
    uint32_t vgprs = 0;          ///< of a SIMD, for waves of 64 work-items
    uint32_t vgpr_granule = 1;   ///< for waves of 64 work-items
    bool unified_vgprs = false;  ///< accumulation registers (AGPRs) come from the same file
    bool wide_registers = false;  ///< waves of 32 work-items are native: twice the registers, twice the granule
    uint32_t sgprs = 0;           ///< of a SIMD; 0: every wave has all it can name
    uint32_t sgpr_granule = 1;
    uint32_t lds_bytes = 0;
    uint32_t lds_granule_bytes = 512;
    uint32_t barrier_slots = 16;  ///< work-groups of more than one wave

    constexpr bool known() const { return simds != 0; }
};

/// What a kernel takes. Its metadata say it: `.vgpr_count` (AGPRs are part of it where the file is unified),
/// ….
struct KernelResources {
    uint32_t vgprs = 0;
    uint32_t sgprs = 0;
    uint32_t lds_bytes = 0;  ///< of a work-group, static and dynamic
    uint32_t workgroup_workitems = 64;
    uint32_t wavefront_size = 64;
    bool workgroup_processor_mode = false;
};

/// Which resource keeps a compute unit from holding one work-group more.
enum class OccupancyLimit : uint8_t { wave_slots, workgroup_slots, vgprs, sgprs, lds };

struct Occupancy {
    uint32_t workgroups = 0;  ///< at once on a compute unit (a pair in work-group processor mode); 0: not even one
    uint32_t waves_per_workgroup = 0;
    uint32_t waves_per_simd = 0;  ///< of the fullest SIMD: the compiler's figure
    uint32_t max_waves_per_simd = 0;
    OccupancyLimit limit = OccupancyLimit::wave_slots;
};

namespace detail {

constexpr bool begins_with(const char* text, const char* prefix) {
    for (; *prefix; ++text, ++prefix) {
        if (*text != *prefix) return false;
    }
    return true;
}

constexpr bool same_text(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

struct Family {
    const char* name;  // one processor, or with `prefix` all that begin so
    bool prefix;
    ComputeUnit unit;
};

constexpr uint32_t kib = 1024;

inline constexpr ComputeUnit gcn2{4, 10, 256, 4, false, false, 512, 8, 64 * kib};
inline constexpr ComputeUnit gcn3{4, 10, 256, 4, false, false, 800, 16, 64 * kib};
inline constexpr ComputeUnit cdna2{4, 8, 512, 8, true, false, 800, 16, 64 * kib};
inline constexpr ComputeUnit cdna4{4, 8, 512, 8, true, false, 800, 16, 160 * kib, 1280};
inline constexpr ComputeUnit rdna1{2, 20, 512, 4, false, true, 0, 1, 64 * kib};
inline constexpr ComputeUnit rdna2{2, 16, 512, 8, false, true, 0, 1, 64 * kib};
inline constexpr ComputeUnit rdna3_large{2, 16, 768, 12, false, true, 0, 1, 64 * kib};

// The first that fits. Exact names come before the prefixes that they begin with.
inline constexpr Family families[] = {
    {"gfx90a", false, cdna2},
    {"gfx940", false, cdna2},
    {"gfx941", false, cdna2},
    {"gfx942", false, cdna2},
    {"gfx9-4-generic", false, cdna2},
    {"gfx950", false, cdna4},
    {"gfx900", false, gcn3},
    {"gfx902", false, gcn3},
    {"gfx904", false, gcn3},
    {"gfx906", false, gcn3},
    {"gfx908", false, gcn3},
    {"gfx909", false, gcn3},
    {"gfx90c", false, gcn3},
    {"gfx9-generic", false, gcn3},
    {"gfx70", true, gcn2},
    {"gfx80", true, gcn3},
    {"gfx810", false, gcn3},
    {"gfx101", true, rdna1},
    {"gfx10-1-generic", false, rdna1},
    {"gfx103", true, rdna2},
    {"gfx10-3-generic", false, rdna2},
    {"gfx1100", false, rdna3_large},
    {"gfx1101", false, rdna3_large},
    {"gfx1151", false, rdna3_large},
    {"gfx1102", false, rdna2},
    {"gfx1103", false, rdna2},
    {"gfx1150", false, rdna2},
    {"gfx1152", false, rdna2},
    {"gfx1153", false, rdna2},
    {"gfx11-generic", false, rdna2},
    {"gfx1200", false, rdna3_large},
    {"gfx1201", false, rdna3_large},
    {"gfx12-generic", false, rdna3_large},
};

constexpr uint32_t round_up(uint32_t value, uint32_t granule) {
    return value > 0xffffffffu - granule ? value : (value + granule - 1) / granule * granule;
}

/// How often `share` fits into `all`, which is `most` at most; a share of nothing limits nothing.
constexpr uint32_t fits(uint32_t all, uint32_t share, uint32_t most) {
    if (share == 0) return most;
    return all / share < most ? all / share : most;
}

}  // namespace detail

/// What a compute unit of that processor ("gfx90a", no features) has; not known() for one that is not in the
/// table.
constexpr ComputeUnit compute_unit(const char* processor) {
    for (const detail::Family& family : detail::families) {
        if (family.prefix ? detail::begins_with(processor, family.name)
                          : detail::same_text(processor, family.name))
            return family.unit;
    }
    return {};
}

/// The waves that a SIMD holds of a kernel with so many registers, if nothing else limits it.
constexpr uint32_t waves_by_vgprs(const ComputeUnit& unit, uint32_t vgprs, uint32_t wavefront_size) {
    const uint32_t width = unit.wide_registers && wavefront_size == 32 ? 2 : 1;
    return detail::fits(unit.vgprs * width, detail::round_up(vgprs, unit.vgpr_granule * width),
                        unit.max_waves_per_simd);
}
constexpr uint32_t waves_by_sgprs(const ComputeUnit& unit, uint32_t sgprs) {
    if (unit.sgprs == 0) return unit.max_waves_per_simd;
    return detail::fits(unit.sgprs, detail::round_up(sgprs, unit.sgpr_granule), unit.max_waves_per_simd);
}

/// `unit` is known; `kernel` has at least one work-item.
constexpr Occupancy occupancy(const ComputeUnit& unit, const KernelResources& kernel) {
    const uint32_t units = kernel.workgroup_processor_mode && unit.wide_registers ? 2 : 1;
    const uint32_t simds = unit.simds * units;
    Occupancy result;
    result.waves_per_workgroup = (kernel.workgroup_workitems - 1) / kernel.wavefront_size + 1;
    result.max_waves_per_simd = unit.max_waves_per_simd;
    result.workgroups = simds * unit.max_waves_per_simd / result.waves_per_workgroup;

    const auto limit = [&](uint32_t workgroups, OccupancyLimit by) {
        if (workgroups >= result.workgroups) return;
        result.workgroups = workgroups;
        result.limit = by;
    };
    // A single wave needs no barrier.
    if (result.waves_per_workgroup > 1) limit(unit.barrier_slots * units, OccupancyLimit::workgroup_slots);
    limit(simds * waves_by_vgprs(unit, kernel.vgprs, kernel.wavefront_size) / result.waves_per_workgroup,
          OccupancyLimit::vgprs);
    limit(simds * waves_by_sgprs(unit, kernel.sgprs) / result.waves_per_workgroup, OccupancyLimit::sgprs);
    limit(detail::fits(unit.lds_bytes * units, detail::round_up(kernel.lds_bytes, unit.lds_granule_bytes),
                       result.workgroups),
          OccupancyLimit::lds);
    const uint32_t waves = result.workgroups * result.waves_per_workgroup;
    result.waves_per_simd = (waves + simds - 1) / simds;
    return result;
}

/// "vector registers", "LDS", …, for messages.
constexpr const char* to_string(OccupancyLimit limit) {
    switch (limit) {
        case OccupancyLimit::workgroup_slots:
            return "work-group slots";
        case OccupancyLimit::vgprs:
            return "vector registers";
        case OccupancyLimit::sgprs:
            return "scalar registers";
        case OccupancyLimit::lds:
            return "LDS";
        default:
            return "wave slots";
    }
}

}  // namespace hsadrv::shared
