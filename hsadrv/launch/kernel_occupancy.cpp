#include "hsadrv/kernel_occupancy.hpp"

#include <algorithm>
#include <string>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

LaunchConfig one_group(Dim3 workgroup, const shared::LdsDemand& lds) {
    return {.grid = workgroup, .workgroup = workgroup, .lds = lds};
}

std::uint32_t workitems_of(Dim3 workgroup) { return static_cast<std::uint32_t>(workgroup.volume()); }

Dim3 required_workgroup(const KernelMetadata& kernel) {
    const auto& size = kernel.required_workgroup_size;
    return {size[0], size[1], size[2]};
}

[[noreturn]] void refuse_workgroup(const KernelMetadata& kernel, const std::string& workgroup,
                                   const shared::KernelResources& takes, shared::OccupancyLimit limit) {
    throw InvalidArgument("occupancy of kernel '" + kernel.name + "': a compute unit cannot hold one work-group of " +
                          workgroup + ": limited by " + to_string(limit) + " (" + std::to_string(takes.vgprs) +
                          " VGPRs and AGPRs, " + std::to_string(takes.sgprs) + " SGPRs, " +
                          std::to_string(takes.lds_bytes) + " bytes of LDS)");
}

/// The occupancy of that work-group, which a launch accepts; throws if it is zero.
SuggestedLaunch suggestion(const LaunchPlan& plan, const shared::ComputeUnit& unit, Dim3 workgroup,
                           const shared::LdsDemand& lds) {
    const LaunchShape shape = plan.prepared_shape(one_group(workgroup, lds));
    const shared::KernelResources takes =
        resources_of(plan.kernel(), workitems_of(workgroup), shape.group_segment_bytes);
    SuggestedLaunch result{.workgroup = workgroup, .dynamic_lds = lds, .occupancy = occupancy(unit, takes)};
    if (result.occupancy.workgroups == 0)
        refuse_workgroup(plan.kernel(), workgroup.text(), takes, result.occupancy.limit);
    return result;
}

void check_known(const LaunchPlan& plan, const shared::ComputeUnit& unit) {
    if (unit.known()) return;
    throw InvalidArgument("occupancy of kernel '" + plan.kernel().name + "': the compute unit is unknown");
}

std::uint32_t on_device(const Kernel& kernel, const shared::Occupancy& held) {
    return kernel.agent().compute_units() / held.compute_units * held.workgroups;
}

}  // namespace

SuggestedLaunch suggest_group_size(const LaunchPlan& plan, const shared::ComputeUnit& unit,
                                   const LdsOfGroupSize& dynamic_lds) {
    const KernelMetadata& kernel = plan.kernel();
    check_known(plan, unit);
    if (!dynamic_lds)
        throw InvalidArgument("suggest_group_size(kernel '" + kernel.name + "'): the LDS function is empty");
    if (kernel.required_workgroup_size[0]) {
        const Dim3 workgroup = required_workgroup(kernel);
        return suggestion(plan, unit, workgroup, dynamic_lds(workitems_of(workgroup)));
    }
    const auto lds_bytes_of = [&](std::uint32_t workitems) {
        const shared::LdsDemand lds = dynamic_lds(workitems);
        const LaunchConfig config = one_group(workitems, lds);
        return plan.fits(config) ? plan.prepared_shape(config).group_segment_bytes : shared::lds_overflow;
    };
    const shared::GroupSize best =
        suggest_group_size(unit, resources_of(kernel, 1, 0), plan.workgroup_max_workitems(), lds_bytes_of);
    // If none fits, the smallest one gives the reason.
    const std::uint32_t workitems = best.workgroup_workitems
                                        ? best.workgroup_workitems
                                        : std::min(kernel.wavefront_size, plan.workgroup_max_workitems());
    return suggestion(plan, unit, workitems, dynamic_lds(workitems));
}

SuggestedLaunch suggest_group_size(const Kernel& kernel, const LdsOfGroupSize& dynamic_lds) {
    SuggestedLaunch result = suggest_group_size(kernel.plan(), kernel.compute_unit(), dynamic_lds);
    result.workgroups = on_device(kernel, result.occupancy);
    result.grid_workitems = result.workgroups * result.workgroup.volume();
    return result;
}

SuggestedLaunch suggest_group_size(const Kernel& kernel, std::uint32_t dynamic_lds_per_item) {
    return suggest_group_size(kernel, [&](std::uint32_t workitems) -> shared::LdsDemand {
        return std::uint64_t{dynamic_lds_per_item} * workitems;
    });
}

std::uint32_t device_workgroups(const Kernel& kernel, Dim3 workgroup, const shared::LdsDemand& lds) {
    return on_device(kernel, kernel.occupancy(workgroup, lds));
}

std::uint32_t available_dynamic_lds(const LaunchPlan& plan, const shared::ComputeUnit& unit, Dim3 workgroup,
                                    std::uint32_t workgroups) {
    check_known(plan, unit);
    shared::LdsDemand empty = 0;
    empty.count = shared::max_lds_arrays;  // as many arrays as the kernel has pointers
    const SuggestedLaunch with_none = suggestion(plan, unit, workgroup, empty);
    const LaunchShape shape = plan.prepared_shape(one_group(workgroup, empty));
    if (workgroups == 0 || with_none.occupancy.workgroups < workgroups) {
        throw InvalidArgument("occupancy of kernel '" + plan.kernel().name + "': a compute unit holds " +
                              std::to_string(with_none.occupancy.workgroups) + " work-groups of " + workgroup.text() +
                              " with no dynamic LDS, limited by " + to_string(with_none.occupancy.limit) +
                              "; requested " + std::to_string(workgroups));
    }
    const shared::KernelResources takes = resources_of(plan.kernel(), workitems_of(workgroup), 0);
    const std::size_t room =
        std::min<std::size_t>(allowance(unit, takes, workgroups).lds_bytes, plan.group_segment_max_bytes());
    return static_cast<std::uint32_t>(room) - shape.lds_base_bytes;
}

std::uint32_t available_dynamic_lds(const Kernel& kernel, Dim3 workgroup, std::uint32_t workgroups) {
    return available_dynamic_lds(kernel.plan(), kernel.compute_unit(), workgroup, workgroups);
}

}  // namespace hsadrv
