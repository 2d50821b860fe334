#include "tools/common/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "hsadrv/kernel_resources.hpp"

namespace tools {

using hsadrv::CodeObject;
using hsadrv::KernelMetadata;
using hsadrv::shared::Occupancy;

std::uint32_t stated_workgroup(const KernelMetadata& kernel, std::uint32_t wanted) {
    const auto& required = kernel.required_workgroup_size;
    if (requires_workgroup(kernel)) return required[0] * required[1] * required[2];
    return std::max(1u, std::min(wanted, kernel.max_flat_workgroup_size));
}

std::optional<Occupancy> occupancy_of(const CodeObject& code, const KernelMetadata& kernel,
                                      std::uint32_t workgroup_workitems, std::uint32_t group_segment_bytes) {
    const hsadrv::shared::ComputeUnit unit = hsadrv::shared::compute_unit(code.target.processor.c_str());
    if (!unit.known()) return {};
    return hsadrv::shared::occupancy(unit, hsadrv::resources_of(kernel, workgroup_workitems, group_segment_bytes));
}

std::optional<Occupancy> occupancy_of(const CodeObject& code, const KernelMetadata& kernel,
                                      std::uint32_t workgroup_workitems) {
    return occupancy_of(code, kernel, workgroup_workitems, kernel.group_segment_fixed_bytes);
}

std::string occupancy_text(const std::optional<Occupancy>& occupancy, std::uint32_t workgroup_workitems) {
    if (!occupancy) return "unknown: no table of this GPU's compute units";
    const std::string_view by = to_string(occupancy->limit);
    if (occupancy->workgroups == 0)
        return fmt::format("none: {} work-items are too many, by {}", workgroup_workitems, by);
    return fmt::format("{} of {} waves a SIMD, by {} ({} work-items)", occupancy->waves_per_simd,
                       occupancy->max_waves_per_simd, by, workgroup_workitems);
}

bool requires_workgroup(const KernelMetadata& kernel) { return kernel.required_workgroup_size[0] != 0; }

bool has_dynamic_lds(const KernelMetadata& kernel) {
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                       [](const auto& argument) { return argument.kind == hsadrv::ValueKind::dynamic_shared_pointer; });
}

std::string workgroup_text(const KernelMetadata& kernel) {
    const auto& required = kernel.required_workgroup_size;
    if (requires_workgroup(kernel)) return fmt::format("{}x{}x{}", required[0], required[1], required[2]);
    return fmt::format("1 to {}", kernel.max_flat_workgroup_size);
}

std::string size_text(std::size_t bytes) {
    if (bytes == 1) return "1 byte";
    return bytes < 10240 ? fmt::format("{} bytes", bytes) : fmt::format("{} KiB", (bytes + 512) / 1024);
}

std::vector<Column> resource_columns() {
    using enum Align;
    return {{"kernel"},     {"VGPRs", right},   {"AGPRs", right},  {"SGPRs", right},
            {"LDS", right}, {"scratch", right}, {"spills", right}, {"work-group"}};
}

std::vector<std::string> resource_cells(const KernelMetadata& kernel) {
    return {kernel.name,
            fmt::format("{}", kernel.vgpr_count),
            fmt::format("{}", kernel.agpr_count),
            fmt::format("{}", kernel.sgpr_count),
            fmt::format("{}{}", kernel.group_segment_fixed_bytes, has_dynamic_lds(kernel) ? "+" : ""),
            fmt::format("{}{}", kernel.private_segment_fixed_bytes, kernel.uses_dynamic_stack ? "+" : ""),
            fmt::format("{}", kernel.vgpr_spill_count + kernel.sgpr_spill_count),
            workgroup_text(kernel)};
}

Json resources_json(const KernelMetadata& kernel) {
    return {{"name", kernel.name},
            {"vgprs", kernel.vgpr_count},
            {"agprs", kernel.agpr_count},
            {"sgprs", kernel.sgpr_count},
            {"vgpr_spills", kernel.vgpr_spill_count},
            {"sgpr_spills", kernel.sgpr_spill_count},
            {"lds_bytes", kernel.group_segment_fixed_bytes},
            {"dynamic_lds", has_dynamic_lds(kernel)},
            {"scratch_bytes", kernel.private_segment_fixed_bytes},
            {"dynamic_stack", kernel.uses_dynamic_stack},
            {"required_workgroup", requires_workgroup(kernel) ? Json(kernel.required_workgroup_size) : Json(nullptr)},
            {"max_workgroup", kernel.max_flat_workgroup_size},
            {"wavefront", kernel.wavefront_size},
            {"kernarg_bytes", kernel.kernarg_size_bytes}};
}

Json occupancy_json(const std::optional<Occupancy>& occupancy, std::uint32_t workgroup_workitems) {
    if (!occupancy) return nullptr;
    return {{"workgroup", workgroup_workitems},
            {"workgroups_per_compute_unit", occupancy->workgroups},
            {"waves_per_simd", occupancy->waves_per_simd},
            {"max_waves_per_simd", occupancy->max_waves_per_simd},
            {"limit", to_string(occupancy->limit)}};
}

}  // namespace tools
