#include "tools/kfdemu/base/model.hpp"

#include <iterator>

namespace kfdemu {
namespace {

// clang-format off
constexpr Model kModels[] = {
    {.name = "gfx900", .gfx_target_version = 90000, .device_id = 0x6860, .pci_revision = 0x00, .family = 141,
     .compute_units = 64, .simds_per_cu = 4, .max_waves_per_simd = 10,
     .shader_engines = 4, .arrays_per_engine = 1, .cus_per_array = 16, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 4096, .cache_line_bytes = 64, .engine_clock_mhz = 1500, .memory_clock_mhz = 945, .memory_width_bits = 2048,
     .firmware = 446, .sdma_firmware = 430, .sdma_engines = 2, .xgmi_sdma_engines = 0, .sram_ecc = false,
     .barrier_value = false, .fan = false},
    {.name = "gfx906", .gfx_target_version = 90006, .device_id = 0x66af, .pci_revision = 0xc1, .family = 141,
     .compute_units = 60, .simds_per_cu = 4, .max_waves_per_simd = 10,
     .shader_engines = 4, .arrays_per_engine = 1, .cus_per_array = 16, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 4096, .cache_line_bytes = 64, .engine_clock_mhz = 1801, .memory_clock_mhz = 1000, .memory_width_bits = 4096,
     .firmware = 464, .sdma_firmware = 145, .sdma_engines = 2, .xgmi_sdma_engines = 0, .sram_ecc = false,
     .barrier_value = false, .fan = true},
    {.name = "gfx908", .gfx_target_version = 90008, .device_id = 0x738c, .pci_revision = 0x01, .family = 141,
     .compute_units = 120, .simds_per_cu = 4, .max_waves_per_simd = 10,
     .shader_engines = 8, .arrays_per_engine = 1, .cus_per_array = 16, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 8192, .cache_line_bytes = 64, .engine_clock_mhz = 1502, .memory_clock_mhz = 1200, .memory_width_bits = 4096,
     .firmware = 63, .sdma_firmware = 18, .sdma_engines = 2, .xgmi_sdma_engines = 6, .sram_ecc = true,
     .barrier_value = false, .fan = true},
    {.name = "gfx90a", .gfx_target_version = 90010, .device_id = 0x740f, .pci_revision = 0x02, .family = 141,
     .compute_units = 104, .simds_per_cu = 4, .max_waves_per_simd = 8,
     .shader_engines = 8, .arrays_per_engine = 1, .cus_per_array = 14, .max_scratch_slots_per_cu = 32, .lds_kib = 64,
     .l1_kib = 16, .l2_kib = 8192, .cache_line_bytes = 128, .engine_clock_mhz = 1700, .memory_clock_mhz = 1600, .memory_width_bits = 4096,
     .firmware = 76, .sdma_firmware = 8, .sdma_engines = 2, .xgmi_sdma_engines = 3, .sram_ecc = true,
     .barrier_value = true, .fan = false},
};
// clang-format on

}  // namespace

const Model* find_model(std::string_view name) {
    for (const Model& model : kModels)
        if (model.name == name) return &model;
    return nullptr;
}

std::string model_names() {
    std::string names;
    for (const Model& model : kModels) names += (names.empty() ? "" : ", ") + std::string{model.name};
    return names;
}

}  // namespace kfdemu
