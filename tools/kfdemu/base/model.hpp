// The table of GPU models that can be emulated, with the properties that the kernel driver reports for each.
// Source: AMD's ISA manuals and product pages, LLVM's AMDGPUUsage (processors), KFD topologies of such boards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kfdemu {

/// How a GPU of several XCCs (accelerated compute dies) is shown: as one (SPX), or each XCC as one (CPX).
enum class Partition : std::uint8_t { spx, cpx };

struct Model {
    std::string_view name;             ///< LLVM's processor name: "gfx90a"
    std::uint32_t gfx_target_version;  ///< major × 10000 + minor × 100 + stepping, as in KFD
    std::uint32_t device_id, pci_revision, asic_revision;
    std::uint32_t family;  ///< the driver's family number: 141 AI (Vega), 143 NV (Navi), 145 GC 11.0.0, 150 GC 11.5.0,
                           ///< 152 GC 12.0.0
    std::uint32_t xccs;
    std::uint32_t compute_units, simds_per_cu, max_waves_per_simd;   ///< compute units of all XCCs
    std::uint32_t shader_engines, arrays_per_engine, cus_per_array;  ///< shader engines of all XCCs
    std::uint32_t wavefront_lanes = 64;                              ///< that the driver tells; kernels may have others
    std::uint32_t max_scratch_slots_per_cu;
    std::uint32_t lds_kib;
    std::uint32_t lds_granule_bytes = 512;                   ///< a work-group's LDS is a multiple of it
    std::uint32_t l1_kib, l2_kib, l3_kib, cache_line_bytes;  ///< L2 of one XCC; l3_kib 0: none
    std::uint32_t engine_clock_mhz, memory_clock_mhz, memory_width_bits;
    std::uint32_t memory_type = 6;  ///< AMDGPU_VRAM_TYPE: 6 HBM, 9 GDDR6, 12 LPDDR5
    std::uint32_t firmware, sdma_firmware;
    std::uint32_t sdma_engines, xgmi_sdma_engines;
    std::uint32_t vram_gib;             ///< unless an option says otherwise; 0: of an APU, half of the host's memory
    bool integrated = false;            ///< an APU's: its memory is the host's
    bool workgroup_processors = false;  ///< two compute units each; a queue has both or none
    bool sram_ecc;
    bool barrier_value;        ///< its firmware has BARRIER_VALUE packets, as far as IREE and CLR use them
    bool fan;                  ///< the driver shows a fan; boards of gfx900 (MI25) and gfx90a (MI210) have none
    std::string_view runtime;  ///< a release of ROCR that knows it, the oldest of Debian's: "6.1.2 (Debian 13)"
};

/// The model with that name, or nullptr. Of a GPU of one XCC the partitions are the same.
const Model* find_model(std::string_view name, Partition partition = Partition::spx);

/// "gfx900, gfx906, gfx908, gfx90a", for error texts.
std::string model_names();

}  // namespace kfdemu
