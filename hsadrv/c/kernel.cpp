// Kernels of the C interface, and what their metadata say.
#include <algorithm>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/executable.h"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"
#include "hsadrv/kernel_occupancy.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

uint32_t kind_of(ArgumentClass what) {
    switch (what) {
        case ArgumentClass::pointer:
            return HSADRV_ARGUMENT_POINTER;
        case ArgumentClass::integer:
            return HSADRV_ARGUMENT_INTEGER;
        case ArgumentClass::floating:
            return HSADRV_ARGUMENT_FLOATING;
        case ArgumentClass::object:
            return HSADRV_ARGUMENT_OBJECT;
        case ArgumentClass::none:
            return HSADRV_ARGUMENT_UNKNOWN;
        default:
            return HSADRV_ARGUMENT_VALUE;
    }
}

hsadrv_kernel_facts facts_of(const Kernel& kernel) {
    const KernelMetadata& metadata = kernel.metadata();
    hsadrv_kernel_facts facts{};
    facts.name = metadata.name.c_str();
    facts.argument_count = kernel.plan().argument_count();
    facts.lds_pointer_count = static_cast<std::size_t>(std::count_if(
        metadata.arguments.begin(), metadata.arguments.end(),
        [](const ArgumentMetadata& argument) { return argument.kind == ValueKind::dynamic_shared_pointer; }));
    facts.kernarg_bytes = metadata.kernarg_size_bytes;
    facts.lds_bytes = metadata.group_segment_fixed_bytes;
    facts.scratch_bytes = metadata.private_segment_fixed_bytes;
    facts.workgroup_max = metadata.max_flat_workgroup_size;
    std::copy_n(metadata.required_workgroup_size.begin(), 3, facts.workgroup_required);
    facts.wavefront_size = metadata.wavefront_size;
    facts.vgprs = metadata.vgpr_count;
    facts.sgprs = metadata.sgpr_count;
    facts.dynamic_stack = metadata.uses_dynamic_stack;
    return facts;
}

hsadrv_argument_facts facts_of(const LaunchPlan& plan, std::size_t index) {
    const ArgumentMetadata& argument = plan.argument(index);
    hsadrv_argument_facts facts{};
    facts.name = argument.name.c_str();
    facts.type_name = argument.type_name.c_str();
    facts.offset_bytes = argument.offset_bytes;
    facts.size_bytes = argument.size_bytes;
    facts.kind = kind_of(plan.argument_class(index));
    facts.element_kind = kind_of(plan.element(index).what);
    facts.element_bytes = plan.element(index).size_bytes;
    facts.is_const = argument.is_const;
    return facts;
}

}  // namespace

hsadrv_result hsadrv_kernel_destroy(hsadrv_kernel kernel) noexcept {
    return call("hsadrv_kernel_destroy",
                [&](const char* name) { take_object<KernelObject>(name, "kernel", kernel).reset(); });
}

hsadrv_result hsadrv_kernel_info(hsadrv_kernel kernel, hsadrv_kernel_facts* facts) noexcept {
    return call("hsadrv_kernel_info", [&](const char* name) {
        check_size(name, "facts", required(name, "facts", facts)->struct_size, sizeof *facts);
        write_structure(facts, facts_of(object<KernelObject>(name, "kernel", kernel)->kernel));
    });
}

hsadrv_result hsadrv_kernel_argument_info(hsadrv_kernel kernel, size_t index, hsadrv_argument_facts* facts) noexcept {
    return call("hsadrv_kernel_argument_info", [&](const char* name) {
        check_size(name, "facts", required(name, "facts", facts)->struct_size, sizeof *facts);
        const auto found = object<KernelObject>(name, "kernel", kernel);
        const LaunchPlan& plan = found->kernel.plan();
        if (index >= plan.argument_count())
            throw InvalidArgument(std::string(name) + ": kernel '" + found->kernel.name() + "' has " +
                                  std::to_string(plan.argument_count()) + " arguments, numbered from 0; asked for " +
                                  std::to_string(index));
        write_structure(facts, facts_of(plan, index));
    });
}

hsadrv_result hsadrv_kernel_suggest_group_size(hsadrv_kernel kernel, uint32_t lds_bytes_per_item, uint32_t* workgroup,
                                               uint32_t* workgroups) noexcept {
    return call("hsadrv_kernel_suggest_group_size", [&](const char* name) {
        output(name, "workgroups", workgroups) = 0;
        required(name, "workgroup", workgroup);
        const auto found = object<KernelObject>(name, "kernel", kernel);
        const SuggestedLaunch best = suggest_group_size(found->kernel, lds_bytes_per_item);
        workgroup[0] = best.workgroup.x;
        workgroup[1] = best.workgroup.y;
        workgroup[2] = best.workgroup.z;
        *workgroups = best.workgroups;
    });
}
