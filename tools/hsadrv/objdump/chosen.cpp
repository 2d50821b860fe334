#include "tools/hsadrv/objdump/chosen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hsadrv/error.hpp"
#include "hsadrv/hidden_arguments.hpp"
#include "hsadrv/launch_plan.hpp"
#include "tools/common/kernel_report.hpp"
#include "tools/common/nearest.hpp"
#include "tools/hsadrv/exit_status.hpp"
#include "tools/hsadrv/objdump/words.hpp"

namespace hsadrv_tool::objdump {
namespace {

using hsadrv::CodeObject;
using hsadrv::Dim3;
using hsadrv::KernelMetadata;
using hsadrv::TargetFeature;
using hsadrv::TargetId;

/// Features that are not named match any setting.
bool is_asked_for(const TargetId& asked, const std::optional<TargetId>& target) {
    const auto agrees = [](TargetFeature wanted, TargetFeature is) {
        return wanted == TargetFeature::any || wanted == is;
    };
    return target && target->processor == asked.processor && agrees(asked.xnack, target->xnack) &&
           agrees(asked.sramecc, target->sramecc);
}

TargetId parse_target(const std::string& text) {
    try {
        return TargetId::parse(text);
    } catch (const hsadrv::InvalidArgument& error) {
        throw tools::Failure(exit_status::usage, fmt::format("--target: {}", error.what()));
    }
}

/// The limits of the processor's compute units, from a table, because this machine may have no such agent.
hsadrv::LaunchLimits limits_of(const TargetId& target) {
    const auto unit = hsadrv::shared::compute_unit(target.processor.c_str());
    constexpr std::uint32_t all = 0xffffffff;
    return {
        .workgroup_max_workitems = unit.max_workgroup_workitems,
        .workgroup_max_dim = {unit.max_workgroup_workitems, unit.max_workgroup_workitems, unit.max_workgroup_workitems},
        .grid_max_workitems = all,
        .grid_max_dim = {all, all, all},
        .group_segment_max_bytes = unit.known() ? unit.lds_bytes : 64 * 1024,
        .max_workgroups = hsadrv::detail::workgroup_limits(target.processor)};
}

Dim3 stated_workgroup(const KernelMetadata& kernel, const Options& options) {
    if (options.workgroup) return *options.workgroup;
    const auto& required = kernel.required_workgroup_size;
    if (required[0]) return {required[0], required[1], required[2]};
    return tools::stated_workgroup(kernel, 256);
}

/// The total bytes of all dynamic LDS arrays of the kernel.
hsadrv::shared::LdsDemand lds_demand(const KernelMetadata& kernel, std::uint32_t bytes) {
    hsadrv::shared::LdsDemand lds = bytes;
    const auto pointers = std::count_if(kernel.arguments.begin(), kernel.arguments.end(), [](const auto& argument) {
        return argument.kind == hsadrv::ValueKind::dynamic_shared_pointer;
    });
    lds.count = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(pointers), 1, hsadrv::shared::max_lds_arrays);
    return lds;
}

KernelFacts facts_of(const CodeObject& code, const KernelMetadata& kernel, const Options& options) {
    KernelFacts facts;
    facts.kernel = &kernel;
    facts.workgroup = stated_workgroup(kernel, options);
    facts.dynamic_lds_bytes = options.dynamic_lds_bytes.value_or(0);
    if (auto why = hsadrv::cannot_launch(kernel)) facts.cannot_launch = *why;
    std::uint32_t lds_bytes = kernel.group_segment_fixed_bytes;
    if (options.workgroup || options.dynamic_lds_bytes) {
        try {
            const hsadrv::LaunchPlan plan(kernel, limits_of(code.target));
            const hsadrv::LaunchConfig one_group{.grid = facts.workgroup,
                                                 .workgroup = facts.workgroup,
                                                 .lds = lds_demand(kernel, facts.dynamic_lds_bytes)};
            lds_bytes = plan.shape(one_group).group_segment_bytes;
        } catch (const hsadrv::InvalidArgument& error) {
            facts.refused = error.what();
            return facts;
        } catch (const hsadrv::InvalidCodeObject& error) {
            facts.cannot_launch = error.what();
        }
    }
    facts.occupancy =
        tools::occupancy_of(code, kernel, static_cast<std::uint32_t>(facts.workgroup.volume()), lds_bytes);
    return facts;
}

EntryFacts facts_of(const Entry& entry, const Options& options) {
    EntryFacts facts;
    facts.entry = &entry;
    if (!entry.code) return facts;
    for (const KernelMetadata& kernel : entry.code->kernels)
        if (options.kernel.empty() || kernel.name == options.kernel)
            facts.kernels.push_back(facts_of(*entry.code, kernel, options));
    return facts;
}

std::string listed(const std::set<std::string>& names, std::size_t most) {
    if (names.empty()) return "none";
    std::vector<std::string> shown(names.begin(),
                                   std::next(names.begin(), static_cast<std::ptrdiff_t>(std::min(most, names.size()))));
    return fmt::format("{}{}", fmt::join(shown, ", "),
                       names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

[[noreturn]] void refuse_target(const Facts& facts, const Options& options) {
    std::set<std::string> targets;
    for (const FileFacts& file : facts.files)
        for (const Entry& entry : file.contents.entries)
            if (const auto target = entry.target()) targets.insert(target->name());
    throw tools::Failure(exit_status::usage, fmt::format("--target {}: there is no code for it; there is for {}",
                                                         options.target, listed(targets, 50)));
}

[[noreturn]] void refuse_kernel(const Facts& facts, const Options& options) {
    std::set<std::string> names;
    for (const FileFacts& file : facts.files)
        for (const EntryFacts& entry : file.entries)
            if (entry.entry->code)
                for (const KernelMetadata& kernel : entry.entry->code->kernels) names.insert(kernel.name);
    const std::vector<std::string> all(names.begin(), names.end());
    const std::string near = tools::nearest(options.kernel, all);
    const std::string meant = near.empty() ? "" : fmt::format(": did you mean {}?", near);
    throw tools::Failure(exit_status::usage,
                         printable(fmt::format("--kernel {}: there is no such kernel{}; there are {}", options.kernel,
                                               meant, listed(names, 50))));
}

/// Entries with the requested kernels; all entries without --kernel.
void keep_kernels(Facts& facts, const Options& options) {
    if (options.kernel.empty()) return;
    const auto lacks = [](const EntryFacts& entry) { return entry.kernels.empty(); };
    const bool none = std::all_of(facts.files.begin(), facts.files.end(), [&](const FileFacts& file) {
        return std::all_of(file.entries.begin(), file.entries.end(), lacks);
    });
    if (none) refuse_kernel(facts, options);
    for (FileFacts& file : facts.files)
        std::erase_if(file.entries, [&](const EntryFacts& entry) { return lacks(entry) && entry.entry->code; });
}

void refuse_impossible(const Facts& facts) {
    const std::string* why = nullptr;
    for (const FileFacts& file : facts.files)
        for (const EntryFacts& entry : file.entries)
            for (const KernelFacts& kernel : entry.kernels) {
                if (kernel.refused.empty()) return;
                if (!why) why = &kernel.refused;
            }
    if (why) throw tools::Failure(exit_status::usage, printable(*why));
}

}  // namespace

Facts choose(std::vector<Contents> contents, const Options& options) {
    Facts facts;
    std::optional<TargetId> asked;
    if (!options.target.empty()) asked = parse_target(options.target);
    bool any_entry = false, any_chosen = false;
    for (Contents& one : contents) {
        FileFacts& file = facts.files.emplace_back();
        file.contents = std::move(one);
        for (const Entry& entry : file.contents.entries) {
            any_entry = true;
            if (asked && !is_asked_for(*asked, entry.target())) continue;
            any_chosen = true;
            file.entries.push_back(facts_of(entry, options));
        }
    }
    if (any_entry && !any_chosen) refuse_target(facts, options);
    if (any_chosen) keep_kernels(facts, options);
    refuse_impossible(facts);
    return facts;
}

}  // namespace hsadrv_tool::objdump
