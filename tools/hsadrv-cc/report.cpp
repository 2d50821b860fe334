#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "hsadrv/kernel_occupancy.hpp"

namespace hsadrv_cc {
namespace {

using hsadrv::CodeObject;
using hsadrv::KernelMetadata;
using hsadrv::shared::Occupancy;

bool requires_workgroup(const KernelMetadata& kernel) { return kernel.required_workgroup_size[0] != 0; }

bool has_dynamic_lds(const KernelMetadata& kernel) {
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), [](const auto& argument) {
        return argument.kind == hsadrv::ValueKind::dynamic_shared_pointer;
    });
}

std::string size_text(std::size_t bytes) {
    return bytes < 10240 ? fmt::format("{} bytes", bytes) : fmt::format("{} KiB", (bytes + 512) / 1024);
}

std::string workgroup_text(const KernelMetadata& kernel) {
    const auto& required = kernel.required_workgroup_size;
    if (requires_workgroup(kernel)) return fmt::format("{}x{}x{}", required[0], required[1], required[2]);
    return fmt::format("1 to {}", kernel.max_flat_workgroup_size);
}

std::string occupancy_text(const std::optional<Occupancy>& occupancy, std::uint32_t workgroup) {
    if (!occupancy) return "unknown: no table of this GPU's compute units";
    const std::string_view by = to_string(occupancy->limit);
    if (occupancy->workgroups == 0)
        return fmt::format("none: {} work-items are too many, by {}", workgroup, by);
    return fmt::format("{} of {} waves a SIMD, by {} ({} work-items)", occupancy->waves_per_simd,
                       occupancy->max_waves_per_simd, by, workgroup);
}

constexpr std::size_t columns = 9;
using Row = std::array<std::string, columns>;

Row row_of(const CodeObject& code, const KernelMetadata& kernel, std::uint32_t wanted) {
    const std::uint32_t workgroup = stated_workgroup(kernel, wanted);
    return {kernel.name,
            fmt::format("{}", kernel.vgpr_count),
            fmt::format("{}", kernel.agpr_count),
            fmt::format("{}", kernel.sgpr_count),
            fmt::format("{}{}", kernel.group_segment_fixed_bytes, has_dynamic_lds(kernel) ? "+" : ""),
            fmt::format("{}{}", kernel.private_segment_fixed_bytes, kernel.uses_dynamic_stack ? "+" : ""),
            fmt::format("{}", kernel.vgpr_spill_count + kernel.sgpr_spill_count),
            workgroup_text(kernel),
            occupancy_text(occupancy_of(code, kernel, workgroup), workgroup)};
}

/// Numbers to the right; names, work-groups and the last column to the left.
bool is_number(std::size_t column) { return column >= 1 && column <= 6; }

std::string aligned(const std::vector<Row>& rows) {
    std::array<std::size_t, columns> widths{};
    for (const Row& row : rows)
        for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < columns; ++i) {
            text += "  ";
            if (i + 1 == columns)
                text += row[i];
            else
                text += is_number(i) ? fmt::format("{:>{}}", row[i], widths[i])
                                     : fmt::format("{:<{}}", row[i], widths[i]);
        }
        text += '\n';
    }
    return text;
}

std::string quoted(std::string_view text) {
    std::string json = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            json += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20)
            json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            json += c;
    }
    return json + '"';
}

std::string json_of(const std::optional<Occupancy>& occupancy, std::uint32_t workgroup) {
    if (!occupancy) return "null";
    return fmt::format(R"({{"workgroup": {}, "workgroups_per_compute_unit": {}, "waves_per_simd": {}, )"
                       R"("max_waves_per_simd": {}, "limit": {}}})",
                       workgroup, occupancy->workgroups, occupancy->waves_per_simd,
                       occupancy->max_waves_per_simd, quoted(to_string(occupancy->limit)));
}

std::string json_of(const CodeObject& code, const KernelMetadata& kernel, std::uint32_t wanted) {
    const auto& required = kernel.required_workgroup_size;
    const std::uint32_t workgroup = stated_workgroup(kernel, wanted);
    return fmt::format(
        R"({{"name": {}, "vgprs": {}, "agprs": {}, "sgprs": {}, "vgpr_spills": {}, "sgpr_spills": {}, )"
        R"("lds_bytes": {}, "dynamic_lds": {}, "scratch_bytes": {}, "dynamic_stack": {}, )"
        R"("required_workgroup": {}, "max_workgroup": {}, "wavefront": {}, "kernarg_bytes": {}, "occupancy": {}}})",
        quoted(kernel.name), kernel.vgpr_count, kernel.agpr_count, kernel.sgpr_count, kernel.vgpr_spill_count,
        kernel.sgpr_spill_count, kernel.group_segment_fixed_bytes, has_dynamic_lds(kernel),
        kernel.private_segment_fixed_bytes, kernel.uses_dynamic_stack,
        requires_workgroup(kernel) ? fmt::format("[{}, {}, {}]", required[0], required[1], required[2])
                                   : "null",
        kernel.max_flat_workgroup_size, kernel.wavefront_size, kernel.kernarg_size_bytes,
        json_of(occupancy_of(code, kernel, workgroup), workgroup));
}

std::string json_of(const Made::Object& object, std::uint32_t workgroup) {
    std::string kernels;
    for (const KernelMetadata& kernel : object.code.kernels)
        kernels += (kernels.empty() ? "\n      " : ",\n      ") + json_of(object.code, kernel, workgroup);
    std::string needs;
    for (const std::string& name : object.code.undefined) needs += (needs.empty() ? "" : ", ") + quoted(name);
    return fmt::format(R"({{"target": {}, "code_object_version": {}, "bytes": {}, "needs": [{}], "kernels": [{}]}})",
                       quoted(object.code.target.name()), object.code.version, object.size_bytes, needs, kernels);
}

}  // namespace

std::uint32_t stated_workgroup(const KernelMetadata& kernel, std::uint32_t wanted) {
    const auto& required = kernel.required_workgroup_size;
    if (requires_workgroup(kernel)) return required[0] * required[1] * required[2];
    return std::max(1u, std::min(wanted, kernel.max_flat_workgroup_size));
}

std::optional<Occupancy> occupancy_of(const CodeObject& code, const KernelMetadata& kernel,
                                      std::uint32_t workgroup_workitems) {
    const hsadrv::shared::ComputeUnit unit = hsadrv::shared::compute_unit(code.target.processor.c_str());
    if (!unit.known()) return {};
    return hsadrv::shared::occupancy(
        unit, hsadrv::resources_of(kernel, workgroup_workitems, kernel.group_segment_fixed_bytes));
}

std::string as_table(const Made& made, std::uint32_t workgroup) {
    std::string text;
    for (const Made::Object& object : made.objects) {
        text += fmt::format("{} for {}: {}, code object V{}\n", made.output, object.code.target.name(),
                            size_text(object.size_bytes), object.code.version);
        std::vector<Row> rows{
            {"kernel", "VGPRs", "AGPRs", "SGPRs", "LDS", "scratch", "spills", "work-group", "occupancy"}};
        for (const KernelMetadata& kernel : object.code.kernels)
            rows.push_back(row_of(object.code, kernel, workgroup));
        text += rows.size() > 1 ? aligned(rows) : "  no kernels\n";
        if (!object.code.undefined.empty())
            text += fmt::format("  needs {}, which no source defines\n", fmt::join(object.code.undefined, ", "));
    }
    if (made.bundle)
        text += fmt::format("{}: {}, {}\n", made.output, made.compressed ? "a compressed bundle" : "a bundle",
                            size_text(made.size_bytes));
    return text;
}

std::string as_json(const Made& made, std::uint32_t workgroup) {
    std::string objects;
    for (const Made::Object& object : made.objects)
        objects += (objects.empty() ? "\n    " : ",\n    ") + json_of(object, workgroup);
    return fmt::format(
        R"({{"output": {}, "bytes": {}, "bundle": {}, "compressed": {}, "clang": {}, "clang_version": {},)"
        "\n  \"code_objects\": [{}]}}\n",
        quoted(made.output), made.size_bytes, made.bundle, made.compressed, quoted(made.clang),
        quoted(made.clang_version), objects);
}

}  // namespace hsadrv_cc
