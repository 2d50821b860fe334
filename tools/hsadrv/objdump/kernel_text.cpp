#include "tools/hsadrv/objdump/kernel_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "tools/common/kernel_report.hpp"
#include "tools/hsadrv/objdump/words.hpp"

namespace hsadrv_tool::objdump {
namespace {

using hsadrv::ArgumentMetadata;
using hsadrv::KernelMetadata;
using tools::wrapped;

std::string waves_text(const KernelFacts& facts) {
    if (!facts.occupancy) return "-";
    return fmt::format("{}/{}", facts.occupancy->waves_per_simd, facts.occupancy->max_waves_per_simd);
}

std::string limit_text(const KernelFacts& facts) {
    if (!facts.refused.empty()) return "refused";
    if (!facts.occupancy) return "unknown GPU";
    return to_string(facts.occupancy->limit);
}

std::string registers_text(const KernelMetadata& kernel) {
    return fmt::format("{} VGPRs, {} AGPRs, {} SGPRs; spilled: {} VGPRs, {} SGPRs; waves of {} work-items",
                       kernel.vgpr_count, kernel.agpr_count, kernel.sgpr_count, kernel.vgpr_spill_count,
                       kernel.sgpr_spill_count, kernel.wavefront_size);
}

std::string dimensions(const std::array<std::uint32_t, 3>& sizes) {
    return fmt::format("{}x{}x{}", sizes[0], sizes[1], sizes[2]);
}

std::string limits_text(const KernelMetadata& kernel) {
    std::string text = tools::requires_workgroup(kernel) ? tools::workgroup_text(kernel) + ", and no other"
                                                         : tools::workgroup_text(kernel) + " work-items";
    constexpr std::array<std::uint32_t, 3> none{};
    if (kernel.workgroup_size_hint != none) text += ", best " + dimensions(kernel.workgroup_size_hint);
    if (kernel.max_workgroups != none)
        text += fmt::format("; grids of at most {} work-groups (0: any)", dimensions(kernel.max_workgroups));
    if (kernel.cluster_workgroups != none)
        text += fmt::format("; in clusters of {}", dimensions(kernel.cluster_workgroups));
    if (kernel.uniform_workgroups) text += "; grids are whole multiples of it";
    if (kernel.workgroup_processor_mode) text += "; each has two compute units";
    return text;
}

std::string language_text(const KernelMetadata& kernel) {
    if (kernel.language.empty()) return "";
    return fmt::format("{} {}.{}", kernel.language, kernel.language_version[0], kernel.language_version[1]);
}

std::string occupancy_text(const KernelFacts& facts) {
    if (!facts.refused.empty()) return facts.refused;
    std::string text = tools::occupancy_text(facts.occupancy, static_cast<std::uint32_t>(facts.workgroup.volume()));
    if (facts.dynamic_lds_bytes) text += fmt::format(" and {} bytes of LDS sized at launch", facts.dynamic_lds_bytes);
    return text;
}

std::string type_text(const ArgumentMetadata& argument) {
    std::string text;
    const auto add = [&](bool is, std::string_view word) {
        if (is) text += (text.empty() ? "" : " ") + std::string(word);
    };
    add(argument.is_const, "const");
    add(argument.is_volatile, "volatile");
    add(argument.is_restrict, "restrict");
    add(argument.is_pipe, "pipe");
    add(!argument.type_name.empty(), argument.type_name);
    add(!argument.name.empty(), argument.name);
    return text;
}

/// What the compiler found, where it says so.
hsadrv::Access access_of(const ArgumentMetadata& argument) {
    return argument.actual_access == hsadrv::Access::unstated ? argument.access : argument.actual_access;
}

std::string or_dash(std::string_view text) { return std::string(text.empty() ? "-" : text); }

std::string arguments_text(const KernelMetadata& kernel, std::size_t columns) {
    using enum tools::Align;
    tools::Table table(
        {{"argument", right}, {"offset", right}, {"size", right}, {"kind"}, {"memory"}, {"access"}, {"type and name"}});
    std::string hidden;
    unsigned number = 0;
    for (const ArgumentMetadata& argument : kernel.arguments) {
        if (hsadrv::is_hidden(argument.kind)) {
            hidden += fmt::format("{}{} {}+{}", hidden.empty() ? "" : ", ", kind_text(argument).substr(7),
                                  argument.offset_bytes, argument.size_bytes);
            continue;
        }
        table.add({std::to_string(++number), std::to_string(argument.offset_bytes), std::to_string(argument.size_bytes),
                   kind_text(argument), or_dash(to_string(argument.address_space)),
                   or_dash(to_string(access_of(argument))), type_text(argument)});
    }
    std::string text = table.empty() ? "    no arguments\n" : table.text(4, columns);
    if (!hidden.empty()) text += wrapped("    hidden      ", hidden + " (offset+size)", columns);
    return text;
}

}  // namespace

std::string kernel_table(std::span<const KernelFacts> kernels, std::size_t columns) {
    auto heads = tools::resource_columns();
    heads.push_back({"waves", tools::Align::right});
    heads.push_back({"limited by"});
    tools::Table table(std::move(heads));
    for (const KernelFacts& facts : kernels) {
        auto cells = tools::resource_cells(*facts.kernel);
        cells.push_back(waves_text(facts));
        cells.push_back(limit_text(facts));
        table.add(std::move(cells));
    }
    return table.text(2, columns);
}

std::string kernel_notes(const KernelFacts& facts, const std::string& indent, std::size_t columns) {
    std::string text;
    if (!facts.refused.empty()) text += wrapped(indent + "refused: ", facts.refused, columns);
    if (!facts.cannot_launch.empty())
        text += wrapped(indent + "not launched by hsadrv: ", facts.cannot_launch, columns);
    return text;
}

std::string kernel_detail(const KernelFacts& facts, std::size_t columns) {
    const KernelMetadata& kernel = *facts.kernel;
    std::string text = fmt::format("  {}{}{}\n", kernel.name, kernel.kind == hsadrv::KernelKind::normal ? "" : ", for ",
                                   kernel.kind == hsadrv::KernelKind::normal ? "" : to_string(kernel.kind));
    const auto add = [&](const char* head, const std::string& said) {
        if (!said.empty()) text += wrapped(fmt::format("    {:<12}", head), said, columns);
    };
    add("in source", demangled(kernel.name));
    add("language", language_text(kernel));
    add("registers", registers_text(kernel));
    add("LDS", fmt::format("{} bytes a work-group{}", kernel.group_segment_fixed_bytes,
                           tools::has_dynamic_lds(kernel) ? ", and what is sized at launch" : ""));
    add("scratch", fmt::format("{} bytes a work-item{}", kernel.private_segment_fixed_bytes,
                               kernel.uses_dynamic_stack ? ", and a stack whose size the compiler does not know" : ""));
    add("work-group", limits_text(kernel));
    add("vectors", kernel.vec_type_hint);
    add("kernarg", fmt::format("{} bytes, aligned to {}", kernel.kernarg_size_bytes, kernel.kernarg_align_bytes));
    add("occupancy", occupancy_text(facts));
    add("enqueued as", kernel.device_enqueue_symbol);
    add("not launched", facts.cannot_launch.empty() ? "" : "by hsadrv: " + facts.cannot_launch);
    return text + arguments_text(kernel, columns);
}

}  // namespace hsadrv_tool::objdump
