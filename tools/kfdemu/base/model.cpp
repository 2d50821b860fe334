#include "tools/kfdemu/base/model.hpp"

#include <algorithm>
#include <array>

namespace kfdemu {
namespace {

// clang-format off
constexpr Model kModels[] = {
    {.name = "gfx900", .gfx_target_version = 90000, .device_id = 0x6860, .pci_revision = 0x00, .asic_revision = 1, .family = 141,
     .xccs = 1, .compute_units = 64, .simds_per_cu = 4, .max_waves_per_simd = 10,
     .shader_engines = 4, .arrays_per_engine = 1, .cus_per_array = 16, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 4096, .l3_kib = 0, .cache_line_bytes = 64, .engine_clock_mhz = 1500, .memory_clock_mhz = 945, .memory_width_bits = 2048,
     .firmware = 446, .sdma_firmware = 430, .sdma_engines = 2, .xgmi_sdma_engines = 0, .vram_gib = 8, .sram_ecc = false,
     .barrier_value = false, .fan = false, .runtime = "5.2.3 (Debian 12)"},
    {.name = "gfx906", .gfx_target_version = 90006, .device_id = 0x66af, .pci_revision = 0xc1, .asic_revision = 1, .family = 141,
     .xccs = 1, .compute_units = 60, .simds_per_cu = 4, .max_waves_per_simd = 10,
     .shader_engines = 4, .arrays_per_engine = 1, .cus_per_array = 16, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 4096, .l3_kib = 0, .cache_line_bytes = 64, .engine_clock_mhz = 1801, .memory_clock_mhz = 1000, .memory_width_bits = 4096,
     .firmware = 464, .sdma_firmware = 145, .sdma_engines = 2, .xgmi_sdma_engines = 0, .vram_gib = 8, .sram_ecc = false,
     .barrier_value = false, .fan = true, .runtime = "5.2.3 (Debian 12)"},
    {.name = "gfx908", .gfx_target_version = 90008, .device_id = 0x738c, .pci_revision = 0x01, .asic_revision = 1, .family = 141,
     .xccs = 1, .compute_units = 120, .simds_per_cu = 4, .max_waves_per_simd = 10,
     .shader_engines = 8, .arrays_per_engine = 1, .cus_per_array = 16, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 8192, .l3_kib = 0, .cache_line_bytes = 64, .engine_clock_mhz = 1502, .memory_clock_mhz = 1200, .memory_width_bits = 4096,
     .firmware = 63, .sdma_firmware = 18, .sdma_engines = 2, .xgmi_sdma_engines = 6, .vram_gib = 8, .sram_ecc = true,
     .barrier_value = false, .fan = true, .runtime = "5.2.3 (Debian 12)"},
    {.name = "gfx90a", .gfx_target_version = 90010, .device_id = 0x740f, .pci_revision = 0x02, .asic_revision = 1, .family = 141,
     .xccs = 1, .compute_units = 104, .simds_per_cu = 4, .max_waves_per_simd = 8,
     .shader_engines = 8, .arrays_per_engine = 1, .cus_per_array = 14, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 8192, .l3_kib = 0, .cache_line_bytes = 128, .engine_clock_mhz = 1700, .memory_clock_mhz = 1600, .memory_width_bits = 4096,
     .firmware = 76, .sdma_firmware = 8, .sdma_engines = 2, .xgmi_sdma_engines = 3, .vram_gib = 8, .sram_ecc = true,
     .barrier_value = true, .fan = false, .runtime = "5.2.3 (Debian 12)"},
    {.name = "gfx942", .gfx_target_version = 90402, .device_id = 0x74a1, .pci_revision = 0x00, .asic_revision = 1, .family = 141,
     .xccs = 8, .compute_units = 304, .simds_per_cu = 4, .max_waves_per_simd = 8,
     .shader_engines = 32, .arrays_per_engine = 1, .cus_per_array = 10, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 32, .l2_kib = 4096, .l3_kib = 262144, .cache_line_bytes = 128, .engine_clock_mhz = 2100, .memory_clock_mhz = 1300, .memory_width_bits = 8192,
     .firmware = 150, .sdma_firmware = 21, .sdma_engines = 2, .xgmi_sdma_engines = 14, .vram_gib = 192, .sram_ecc = true,
     .barrier_value = true, .fan = false, .runtime = "6.1.2 (Debian 13)"},
    {.name = "gfx950", .gfx_target_version = 90500, .device_id = 0x75a3, .pci_revision = 0x00, .asic_revision = 0, .family = 141,
     .xccs = 8, .compute_units = 256, .simds_per_cu = 4, .max_waves_per_simd = 8,
     .shader_engines = 32, .arrays_per_engine = 1, .cus_per_array = 9, .max_scratch_slots_per_cu = 32, .lds_kib = 160, .lds_granule_bytes = 1280,
     .l1_kib = 32, .l2_kib = 4096, .l3_kib = 262144, .cache_line_bytes = 128, .engine_clock_mhz = 2400, .memory_clock_mhz = 2000, .memory_width_bits = 8192,
     .firmware = 38, .sdma_firmware = 12, .sdma_engines = 2, .xgmi_sdma_engines = 14, .vram_gib = 288, .sram_ecc = true,
     .barrier_value = true, .fan = false, .runtime = "6.4.3 (Debian sid)"},
    {.name = "gfx1030", .gfx_target_version = 100300, .device_id = 0x73bf, .pci_revision = 0xc0, .asic_revision = 1, .family = 143,
     .xccs = 1, .compute_units = 80, .simds_per_cu = 2, .max_waves_per_simd = 16,
     .shader_engines = 4, .arrays_per_engine = 2, .cus_per_array = 10, .wavefront_lanes = 32, .max_scratch_slots_per_cu = 32, .lds_kib = 64, .lds_granule_bytes = 1024,
     .l1_kib = 16, .l2_kib = 4096, .l3_kib = 131072, .cache_line_bytes = 128, .engine_clock_mhz = 2660, .memory_clock_mhz = 1000, .memory_width_bits = 256, .memory_type = 9,
     .firmware = 115, .sdma_firmware = 80, .sdma_engines = 4, .xgmi_sdma_engines = 0, .vram_gib = 16, .workgroup_processors = true, .sram_ecc = false,
     .barrier_value = false, .fan = true, .runtime = "5.2.3 (Debian 12)"},
    {.name = "gfx1100", .gfx_target_version = 110000, .device_id = 0x744c, .pci_revision = 0xc8, .asic_revision = 0, .family = 145,
     .xccs = 1, .compute_units = 96, .simds_per_cu = 2, .max_waves_per_simd = 16,
     .shader_engines = 6, .arrays_per_engine = 2, .cus_per_array = 8, .wavefront_lanes = 32, .max_scratch_slots_per_cu = 32, .lds_kib = 64, .lds_granule_bytes = 1024,
     .l1_kib = 32, .l2_kib = 6144, .l3_kib = 98304, .cache_line_bytes = 128, .engine_clock_mhz = 2526, .memory_clock_mhz = 1249, .memory_width_bits = 384, .memory_type = 9,
     .firmware = 202, .sdma_firmware = 20, .sdma_engines = 2, .xgmi_sdma_engines = 0, .vram_gib = 24, .workgroup_processors = true, .sram_ecc = false,
     .barrier_value = false, .fan = true, .runtime = "6.1.2 (Debian 13)"},
    {.name = "gfx1151", .gfx_target_version = 110501, .device_id = 0x1586, .pci_revision = 0xc1, .asic_revision = 0, .family = 150,
     .xccs = 1, .compute_units = 40, .simds_per_cu = 2, .max_waves_per_simd = 16,
     .shader_engines = 2, .arrays_per_engine = 2, .cus_per_array = 10, .wavefront_lanes = 32, .max_scratch_slots_per_cu = 32, .lds_kib = 64, .lds_granule_bytes = 1024,
     .l1_kib = 32, .l2_kib = 2048, .l3_kib = 32768, .cache_line_bytes = 128, .engine_clock_mhz = 2900, .memory_clock_mhz = 1000, .memory_width_bits = 256, .memory_type = 12,
     .firmware = 29, .sdma_firmware = 14, .sdma_engines = 1, .xgmi_sdma_engines = 0, .vram_gib = 0, .integrated = true, .workgroup_processors = true, .sram_ecc = false,
     .barrier_value = false, .fan = false, .runtime = "6.1.2 (Debian 13)"},
    {.name = "gfx1201", .gfx_target_version = 120001, .device_id = 0x7550, .pci_revision = 0xc0, .asic_revision = 1, .family = 152,
     .xccs = 1, .compute_units = 64, .simds_per_cu = 2, .max_waves_per_simd = 16,
     .shader_engines = 4, .arrays_per_engine = 2, .cus_per_array = 8, .wavefront_lanes = 32, .max_scratch_slots_per_cu = 32, .lds_kib = 64, .lds_granule_bytes = 1024,
     .l1_kib = 32, .l2_kib = 8192, .l3_kib = 65536, .cache_line_bytes = 256, .engine_clock_mhz = 2400, .memory_clock_mhz = 1258, .memory_width_bits = 256, .memory_type = 9,
     .firmware = 128, .sdma_firmware = 662, .sdma_engines = 2, .xgmi_sdma_engines = 0, .vram_gib = 16, .workgroup_processors = true, .sram_ecc = false,
     .barrier_value = false, .fan = true, .runtime = "6.4.3 (Debian sid)"},
};
// clang-format on

/// One of its XCCs. The kernel divides engines, units, SDMA engines and memory among the partitions; those for XGMI are
/// what is beyond two of a partition's SDMA engines (kfd_device.c, kfd_get_num_sdma_engines).
constexpr Model one_xcc(Model model) {
    const std::uint32_t copies = (model.sdma_engines + model.xgmi_sdma_engines) / model.xccs;
    for (std::uint32_t Model::* shared :
         {&Model::compute_units, &Model::shader_engines, &Model::l3_kib, &Model::vram_gib})
        model.*shared /= model.xccs;
    model.sdma_engines = std::min(copies, 2u);
    model.xgmi_sdma_engines = copies - model.sdma_engines;
    model.xccs = 1;
    return model;
}
constexpr auto kXccs = [] {
    auto xccs = std::to_array(kModels);
    for (Model& model : xccs)
        if (model.xccs > 1) model = one_xcc(model);
    return xccs;
}();

}  // namespace

const Model* find_model(std::string_view name, Partition partition) {
    const auto* model = std::ranges::find(kModels, name, &Model::name);
    if (model == std::end(kModels)) return nullptr;
    return partition == Partition::spx ? model : &kXccs[static_cast<std::size_t>(model - kModels)];
}

std::string model_names() {
    std::string names;
    for (const Model& model : kModels) names += (names.empty() ? "" : ", ") + std::string{model.name};
    return names;
}

}  // namespace kfdemu
