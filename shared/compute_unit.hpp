// The resources of one compute unit of each gfx target, as a plain table: SIMDs, registers, LDS, slots.
//
//     constexpr auto unit = hsadrv::shared::compute_unit("gfx90a");
//     static_assert(unit.known() && unit.vgprs == 512 && unit.unified_vgprs);
//
// Freestanding: compiles for the host and for amdgcn. Values only: any thread may use any object. Nothing here
// allocates or throws. Sources: LLVM AMDGPUUsage (Kernel Descriptor: granules), LLVM's AMDGPU::IsaInfo (sizes of
// register files, wave and barrier slots), the ISA manuals of GCN3, Vega, CDNA to CDNA3, RDNA to RDNA3.
#pragma once

#include "cpp20.hpp"

#include <stdint.h>

namespace hsadrv::shared {

/// Registers are counted as a lane of a wave of 64 work-items sees them; a wave of 32 on RDNA has twice as many.
struct ComputeUnit {
    uint32_t simds = 0;  ///< 0: unknown target
    uint32_t max_waves_per_simd = 0;
    uint32_t vgprs = 0;           ///< of a SIMD
    uint32_t vgpr_granule = 1;    ///< a wave's allocation is a multiple of it
    uint32_t vgprs_of_wave = 0;   ///< a wave's maximum, including AGPRs in a unified file
    bool unified_vgprs = false;   ///< accumulation registers (AGPRs) come from the same file
    uint32_t agprs = 0;           ///< of a SIMD, in a separate file with the same granule (gfx908)
    bool wide_registers = false;  ///< waves of 32 work-items are native: twice the registers, twice the granule
    uint32_t sgprs = 0;           ///< of a SIMD; 0: every wave has the maximum
    uint32_t sgpr_granule = 1;
    uint32_t sgprs_of_wave = 0;        ///< a wave's maximum, including VCC and similar
    uint32_t lds_bytes = 0;            ///< also the maximum of one work-group
    uint32_t lds_granule_bytes = 512;  ///< a work-group's allocation is a multiple of it
    uint32_t barrier_slots = 16;       ///< for work-groups of more than one wave
    uint32_t max_workgroup_workitems = 1024;

    constexpr bool known() const { return simds != 0; }
    /// For waves of 32 work-items the same file has this many times the registers.
    constexpr uint32_t width(uint32_t wavefront_size) const { return wide_registers && wavefront_size == 32 ? 2 : 1; }
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
    const char* name;  // one processor, or with `prefix` all that start with it
    bool prefix;
    ComputeUnit unit;
};

constexpr uint32_t kib = 1024;

inline constexpr ComputeUnit gcn2{.simds = 4,
                                  .max_waves_per_simd = 10,
                                  .vgprs = 256,
                                  .vgpr_granule = 4,
                                  .vgprs_of_wave = 256,
                                  .sgprs = 512,
                                  .sgpr_granule = 8,
                                  .sgprs_of_wave = 104,
                                  .lds_bytes = 64 * kib};
inline constexpr ComputeUnit gcn3{.simds = 4,
                                  .max_waves_per_simd = 10,
                                  .vgprs = 256,
                                  .vgpr_granule = 4,
                                  .vgprs_of_wave = 256,
                                  .sgprs = 800,
                                  .sgpr_granule = 16,
                                  .sgprs_of_wave = 112,
                                  .lds_bytes = 64 * kib};
inline constexpr ComputeUnit cdna1 = [] {
    ComputeUnit unit = gcn3;
    unit.agprs = 256;
    return unit;
}();
inline constexpr ComputeUnit cdna2 = [] {
    ComputeUnit unit = gcn3;
    unit.max_waves_per_simd = 8;
    unit.vgprs = unit.vgprs_of_wave = 512;
    unit.vgpr_granule = 8;
    unit.unified_vgprs = true;
    return unit;
}();
inline constexpr ComputeUnit cdna4 = [] {
    ComputeUnit unit = cdna2;
    unit.lds_bytes = 160 * kib;
    unit.lds_granule_bytes = 1280;
    return unit;
}();
inline constexpr ComputeUnit rdna1{.simds = 2,
                                   .max_waves_per_simd = 20,
                                   .vgprs = 512,
                                   .vgpr_granule = 4,
                                   .vgprs_of_wave = 256,
                                   .wide_registers = true,
                                   .sgprs_of_wave = 108,
                                   .lds_bytes = 64 * kib};
inline constexpr ComputeUnit rdna2 = [] {
    ComputeUnit unit = rdna1;
    unit.max_waves_per_simd = 16;
    unit.vgpr_granule = 8;
    // The kernel descriptor still counts in 512 (AMDGPUUsage, GRANULATED_LDS_SIZE).
    unit.lds_granule_bytes = 1024;
    return unit;
}();
inline constexpr ComputeUnit rdna3_large = [] {
    ComputeUnit unit = rdna2;
    unit.vgprs = 768;
    unit.vgpr_granule = 12;
    return unit;
}();

// The first match counts. Exact names precede the prefixes that they start with.
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
    {"gfx908", false, cdna1},
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

}  // namespace detail

/// The resources of a processor's compute unit ("gfx90a", without features); not known() if it is not in the table.
constexpr ComputeUnit compute_unit(const char* processor) {
    for (const detail::Family& family : detail::families) {
        if (family.prefix ? detail::begins_with(processor, family.name) : detail::same_text(processor, family.name))
            return family.unit;
    }
    return {};
}

}  // namespace hsadrv::shared
