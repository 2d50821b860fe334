#include "hsadrv/launch_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hsadrv/error.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/launch/type_name.hpp"

namespace hsadrv {
namespace {

constexpr ArgumentClass pointer = ArgumentClass::pointer;

ArgumentClass accepted(const ArgumentMetadata& argument) {
    return argument.kind != ValueKind::by_value ? pointer : detail::value_class(argument.type_name);
}

const char* class_text(ArgumentClass what) {
    switch (what) {
        case ArgumentClass::pointer:
            return "a pointer";
        case ArgumentClass::integer:
            return "an integer";
        case ArgumentClass::floating:
            return "a floating-point number";
        case ArgumentClass::object:
            return "an object";
        default:
            return "a value";
    }
}

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

/// Names the largest of several arrays, including its padding. A launch knows only where the arrays begin and where
/// they all end.
std::string largest_array_text(const shared::LdsDemand& lds) {
    if (lds.count < 2) return {};
    const std::uint32_t count = std::min(lds.count, shared::max_lds_arrays);
    std::uint32_t largest = 0, most = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t begin = lds.offsets_bytes[i];
        const std::uint32_t end = i + 1 < count ? lds.offsets_bytes[i + 1] : lds.size_bytes;
        if (end == shared::lds_overflow) return "; array " + std::to_string(i) + " of .lds ends beyond 4 GiB";
        if (end < begin || end - begin <= most) continue;
        largest = i;
        most = end - begin;
    }
    return "; the largest of the " + std::to_string(lds.count) + " arrays of .lds is array " + std::to_string(largest) +
           " with " + bytes_text(most);
}

/// Zero: any number.
bool workgroups_within(const Dim3& grid, const Dim3& workgroup, const Dim3& max) noexcept {
    const auto within = [](std::uint32_t items, std::uint32_t group, std::uint32_t most) {
        return most == 0 || (items - 1) / group < most;
    };
    return within(grid.x, workgroup.x, max.x) && within(grid.y, workgroup.y, max.y) &&
           within(grid.z, workgroup.z, max.z);
}

/// A packet's grid may not be smaller than its work-group (hsa.h, grid_size_x): the single partial work-group is the
/// whole grid.
Dim3 within_grid(const Dim3& workgroup, const Dim3& grid) noexcept {
    return {std::min(workgroup.x, grid.x), std::min(workgroup.y, grid.y), std::min(workgroup.z, grid.z)};
}

}  // namespace

LaunchPlan::LaunchPlan(KernelMetadata kernel, const LaunchLimits& limits, const ServiceAddresses& services)
    : kernel_(std::move(kernel)), limits_(limits), hidden_(services) {
    if (kernel_.kernarg_align_bytes > KernargRing::alignment_bytes)
        throw InvalidCodeObject("kernel '" + kernel_.name + "': its arguments need an alignment of " +
                                bytes_text(kernel_.kernarg_align_bytes) + "; streams provide " +
                                bytes_text(KernargRing::alignment_bytes));
    max_flat_ = std::min(limits_.workgroup_max_workitems, kernel_.max_flat_workgroup_size);
    // The packet has 16 bits per dimension.
    for (std::uint32_t* extent :
         {&limits_.workgroup_max_dim.x, &limits_.workgroup_max_dim.y, &limits_.workgroup_max_dim.z}) {
        *extent = std::min<std::uint32_t>(*extent, 0xffff);
    }
    has_max_workgroups_ = kernel_.max_workgroups != std::array<std::uint32_t, 3>{};
    for (std::uint32_t i = 0; i < kernel_.arguments.size(); ++i) add(kernel_.arguments[i], i);
    const auto& group = limits_.workgroup_max_dim;
    const auto& grid = limits_.grid_max_dim;
    plain_volume_ = std::min<std::uint64_t>({grid.x, grid.y, grid.z, limits_.grid_max_workitems});
    has_implicit_ = !hidden_.empty() || !lds_pointers_.empty();
    needs_cooperation_ = synchronises_grid(kernel_);
    prints_ = prints_in_buffer(kernel_);
    const bool plain = !needs_cooperation_ && !prints_ && !kernel_.required_workgroup_size[0] && !has_max_workgroups_ &&
                       !kernel_.uniform_workgroups && !kernel_.uses_dynamic_stack && lds_pointers_.empty() &&
                       kernel_.group_segment_fixed_bytes <= limits_.group_segment_max_bytes;
    // 1024 at most, so that the product of three extents fits 32 bits.
    if (plain) plain_workgroup_ = std::bit_floor(std::min({group.x, group.y, group.z, std::uint32_t{1024}}));
}

void LaunchPlan::check_arguments(std::span<const ArgumentShape> given) const {
    bool good = given.size() == parameters_.size();
    for (std::size_t i = 0; good && i < given.size(); ++i) good = fits_argument(i, given[i]);
    if (!good) refuse_arguments(given);
}

void LaunchPlan::check_arguments(std::span<const LaunchArgument> given) const {
    bool good = given.size() == parameters_.size();
    for (std::size_t i = 0; good && i < given.size(); ++i) good = fits_argument(i, given[i].shape());
    if (good) return;
    std::vector<ArgumentShape> shapes;
    for (const LaunchArgument& argument : given) shapes.push_back(argument.shape());
    refuse_arguments(shapes);
}

bool LaunchPlan::lie_in_order(std::span<const ArgumentShape> given) const noexcept {
    return std::equal(given.begin(), given.end(), parameters_.begin(),
                      [](const ArgumentShape& argument, const Parameter& parameter) {
                          return argument.offset_bytes == parameter.offset_bytes;
                      });
}

void LaunchPlan::add(const ArgumentMetadata& argument, std::uint32_t index) {
    if (argument.kind == ValueKind::unknown) {
        throw InvalidCodeObject("kernel '" + kernel_.name + "': unknown argument kind '" + argument.kind_text + "'");
    }
    if (is_hidden(argument.kind)) return hidden_.add(argument);
    if (argument.kind == ValueKind::dynamic_shared_pointer) return add_lds_pointer(argument, index);
    const ArgumentClass what = accepted(argument);
    const ElementType element = what == pointer ? detail::element_of_pointer(argument.type_name) : ElementType{};
    parameters_.push_back({argument.offset_bytes, argument.size_bytes, what, index, element});
}

void LaunchPlan::add_lds_pointer(const ArgumentMetadata& argument, std::uint32_t index) {
    if (argument.size_bytes != sizeof(std::uint32_t)) {
        throw InvalidCodeObject("kernel '" + kernel_.name + "': a dynamic LDS pointer of " +
                                bytes_text(argument.size_bytes) + ", expected 4");
    }
    const std::uint32_t align_bytes = std::max(argument.pointee_align_bytes, 1u);
    lds_align_bytes_ = std::max(lds_align_bytes_, align_bytes);
    lds_pointers_.push_back({argument.offset_bytes, align_bytes, index});
}

/// The requested work-group, or the only one that the kernel accepts.
Dim3 LaunchPlan::workgroup_of(const LaunchConfig& config) const noexcept {
    const auto& required = kernel_.required_workgroup_size;
    if (config.workgroup != Dim3(0, 0, 0) || !required[0]) return config.workgroup;
    return {required[0], required[1], required[2]};
}

/// None if it is given twice, or 32 bits do not hold it.
std::optional<Dim3> LaunchPlan::grid_of(const LaunchConfig& config, const Dim3& workgroup) const noexcept {
    const Dim3 &groups = config.groups, none(0, 0, 0);
    if (groups == none) return config.grid;
    Dim3 grid;
    if (config.grid != none || __builtin_mul_overflow(groups.x, workgroup.x, &grid.x) ||
        __builtin_mul_overflow(groups.y, workgroup.y, &grid.y) ||
        __builtin_mul_overflow(groups.z, workgroup.z, &grid.z))
        return std::nullopt;
    return grid;
}

LaunchShape LaunchPlan::shape(const LaunchConfig& config) const {
    if (config.cooperative) [[unlikely]]
        refuse("only Kernel::launch launches cooperatively, and graphs record it; updates of graphs do not");
    if (needs_cooperation_) [[unlikely]]
        refuse("its work-groups wait for each other (grid_barrier); launch it with .cooperative = true");
    if (prints_) [[unlikely]]
        refuse(
            "it may call OpenCL C's printf, whose buffer is printed after it; only Kernel::launch on a stream does "
            "that, "
            "and graphs captured from streams");
    return prepared_shape(config);
}

LaunchShape LaunchPlan::prepared_shape(const LaunchConfig& config) const {
    const Dim3 workgroup = workgroup_of(config);
    const std::optional<Dim3> grid = grid_of(config, workgroup);
    if (!grid) [[unlikely]]
        refuse_groups(config, workgroup);
    if (!sizes_fit(*grid, workgroup)) [[unlikely]]
        refuse_sizes(*grid, workgroup);

    LaunchShape shape;
    shape.grid = *grid;
    shape.workgroup = within_grid(workgroup, *grid);
    shape.lds = &config.lds;
    shape.private_segment_bytes = kernel_.private_segment_fixed_bytes;
    if (kernel_.uses_dynamic_stack) shape.private_segment_bytes = private_bytes_with_stack(config.stack_bytes);
    shape.group_segment_bytes = kernel_.group_segment_fixed_bytes;
    shape.lds_base_bytes = kernel_.group_segment_fixed_bytes;
    if (config.lds.count || config.lds.size_bytes || !lds_pointers_.empty()) {
        if (!lds_pointers_fit(config.lds)) [[unlikely]]
            refuse_lds_pointers(config.lds);
        const std::uint64_t base = lds_base_bytes(config.lds);
        if (base + config.lds.size_bytes > limits_.group_segment_max_bytes) [[unlikely]]
            refuse_lds(config.lds);
        shape.lds_base_bytes = static_cast<std::uint32_t>(base);
        shape.group_segment_bytes = static_cast<std::uint32_t>(base + config.lds.size_bytes);
    } else if (kernel_.group_segment_fixed_bytes > limits_.group_segment_max_bytes) [[unlikely]] {
        refuse_lds(config.lds);
    }
    return shape;
}

bool LaunchPlan::fits(const LaunchConfig& config) const noexcept {
    const Dim3 workgroup = workgroup_of(config);
    const std::optional<Dim3> grid = grid_of(config, workgroup);
    return grid && sizes_fit(*grid, workgroup) && lds_pointers_fit(config.lds) &&
           lds_base_bytes(config.lds) + config.lds.size_bytes <= limits_.group_segment_max_bytes;
}

std::uint32_t LaunchPlan::private_bytes_with_stack(std::uint32_t stack_bytes) const {
    if (stack_bytes == 0) stack_bytes = dynamic_stack_default_bytes;
    std::uint32_t sum = 0;
    if (__builtin_add_overflow(kernel_.private_segment_fixed_bytes, stack_bytes, &sum)) {
        refuse("a stack of " + bytes_text(stack_bytes) + " per work-item");
    }
    return sum;
}

/// The limits of every kernel. Zero wraps around to the largest number and so fails like a size that is too large.
bool LaunchPlan::sizes_within_limits(const Dim3& grid, const Dim3& workgroup) const noexcept {
    const auto within = [](const Dim3& d, const Dim3& max) {
        return (d.x - 1 < max.x) & (d.y - 1 < max.y) & (d.z - 1 < max.z);
    };
    if (!within(workgroup, limits_.workgroup_max_dim) || !within(grid, limits_.grid_max_dim)) return false;
    if (std::uint64_t{workgroup.x} * workgroup.y * workgroup.z > max_flat_) return false;
    std::uint64_t volume = 0;
    return workgroups_within(grid, workgroup, limits_.max_workgroups) &&
           !__builtin_mul_overflow(std::uint64_t{grid.x} * grid.y, std::uint64_t{grid.z}, &volume) &&
           volume <= limits_.grid_max_workitems;
}

bool LaunchPlan::sizes_fit(const Dim3& grid, const Dim3& workgroup) const noexcept {
    if (!sizes_within_limits(grid, workgroup)) return false;
    const auto& required = kernel_.required_workgroup_size;
    if (required[0]) {
        if (workgroup != Dim3(required[0], required[1], required[2])) return false;
        if (grid.x < workgroup.x || grid.y < workgroup.y || grid.z < workgroup.z) return false;
    }
    if (has_max_workgroups_ && !workgroups_fit(grid, workgroup)) return false;
    if (!kernel_.uniform_workgroups) return true;
    return grid.x % workgroup.x == 0 && grid.y % workgroup.y == 0 && grid.z % workgroup.z == 0;
}

bool LaunchPlan::workgroups_fit(const Dim3& grid, const Dim3& workgroup) const noexcept {
    const auto& max = kernel_.max_workgroups;
    return workgroups_within(grid, workgroup, {max[0], max[1], max[2]});
}

bool LaunchPlan::lds_pointers_fit(const shared::LdsDemand& lds) const noexcept {
    if (lds_pointers_.size() > lds.count) return false;
    for (std::size_t i = 0; i < lds_pointers_.size(); ++i) {
        if (lds.offsets_bytes[i] % lds_pointers_[i].align_bytes != 0) return false;
    }
    return true;
}

void LaunchPlan::fill_implicit(std::byte* kernarg, const LaunchShape& shape, const QueueFacts& queue) const noexcept {
    for (std::size_t i = 0; i < lds_pointers_.size(); ++i) {
        const std::uint32_t address = shape.lds_base_bytes + shape.lds->offsets_bytes[i];
        std::memcpy(kernarg + lds_pointers_[i].offset_bytes, &address, sizeof address);
    }
    if (hidden_.empty()) return;
    const std::uint32_t dynamic_lds_bytes = shape.group_segment_bytes - kernel_.group_segment_fixed_bytes;
    hidden_.fill(kernarg, {shape.grid, shape.workgroup, dynamic_lds_bytes, shape.grid_state, shape.printf_buffer},
                 queue);
}

std::string LaunchPlan::argument_text(std::size_t position) const {
    const ArgumentMetadata& argument = kernel_.arguments[parameters_[position].argument];
    std::string text = "argument " + std::to_string(position + 1) + " of " + std::to_string(parameters_.size());
    if (!argument.type_name.empty() || !argument.name.empty()) {
        const bool both = !argument.type_name.empty() && !argument.name.empty();
        text += " (" + argument.type_name + (both ? " " : "") + argument.name + ")";
    }
    return text;
}

std::string LaunchPlan::signature() const {
    std::string text = kernel_.name + "(";
    for (const Parameter& parameter : parameters_) {
        const ArgumentMetadata& argument = kernel_.arguments[parameter.argument];
        if (text.back() != '(') text += ", ";
        text += !argument.type_name.empty()    ? argument.type_name
                : parameter.accepts == pointer ? "pointer"
                                               : bytes_text(parameter.size_bytes);
        if (!argument.name.empty()) text += " " + argument.name;
    }
    return text + ")";
}

void LaunchPlan::refuse(const std::string& why) const {
    throw InvalidArgument("launch of kernel '" + kernel_.name + "': " + why);
}

void LaunchPlan::refuse_arguments(std::span<const ArgumentShape> given) const {
    if (given.size() != parameters_.size()) {
        refuse(signature() + " takes " + std::to_string(parameters_.size()) + " arguments, given " +
               std::to_string(given.size()) +
               (lds_pointers_.empty() ? "" : " (LDS pointers are not given: .lds sizes them)"));
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (fits_argument(i, given[i])) continue;
        const Parameter& wanted = parameters_[i];
        if (given[i].size_bytes == wanted.size_bytes && accepts(wanted.accepts, given[i].what))
            refuse_element(i, given[i].element);
        refuse(argument_text(i) + ": wanted " + class_text(wanted.accepts) + " of " + bytes_text(wanted.size_bytes) +
               ", given " + class_text(given[i].what) + " of " + bytes_text(given[i].size_bytes));
    }
    refuse("arguments do not fit " + signature());
}

void LaunchPlan::refuse_element(std::size_t index, ElementType given) const {
    const ElementType wanted = parameters_[index].element;
    refuse(argument_text(index) + ": wanted a pointer to elements that are " + class_text(wanted.what) + " of " +
           bytes_text(wanted.size_bytes) + ", given a pointer to " + class_text(given.what) + " of " +
           bytes_text(given.size_bytes) + " (a void* is not compared)");
}

void LaunchPlan::refuse_groups(const LaunchConfig& config, const Dim3& workgroup) const {
    if (config.grid != Dim3(0, 0, 0))
        refuse("grid " + config.grid.text() + " and groups " + config.groups.text() +
               ": give work-items in .grid, or work-groups in .groups");
    refuse("groups " + config.groups.text() + " of " + workgroup.text() +
           ": a packet's grid has up to 4294967295 work-items " + "in each dimension");
}

void LaunchPlan::refuse_sizes(const Dim3& grid, const Dim3& workgroup) const {
    const std::uint64_t flat = std::uint64_t{workgroup.x} * workgroup.y * workgroup.z;
    const auto zero = [](const Dim3& d) { return !d.x || !d.y || !d.z; };
    const auto beyond = [](const Dim3& d, const Dim3& max) { return d.x > max.x || d.y > max.y || d.z > max.z; };
    const auto& required = kernel_.required_workgroup_size;
    const std::string group = "work-group " + workgroup.text();

    if (workgroup == Dim3(0, 0, 0))
        refuse("no work-group is given; use for example {.grid = …, .workgroup = 256}, or suggest_group_size(kernel)");
    if (zero(workgroup)) refuse(group + " is empty");
    if (grid == Dim3(0, 0, 0))
        refuse("no grid is given: .grid, in work-items, or .groups, in work-groups; or it is empty");
    if (zero(grid)) refuse("grid " + grid.text() + " is empty");
    if (beyond(workgroup, limits_.workgroup_max_dim))
        refuse(group + ": the agent's limit is " + limits_.workgroup_max_dim.text());
    if (required[0] && workgroup != Dim3(required[0], required[1], required[2])) {
        refuse(group + ": the kernel requires " + Dim3(required[0], required[1], required[2]).text() +
               " (reqd_work_group_size)");
    }
    if (required[0] && beyond(workgroup, grid)) {
        refuse("grid " + grid.text() + " is smaller than the " + group + " that the kernel requires");
    }
    if (flat > limits_.workgroup_max_workitems) {
        refuse(group + " has " + std::to_string(flat) + " work-items, the agent's limit is " +
               std::to_string(limits_.workgroup_max_workitems));
    }
    if (flat > kernel_.max_flat_workgroup_size) {
        refuse(group + " has " + std::to_string(flat) + " work-items, the kernel was compiled for up to " +
               std::to_string(kernel_.max_flat_workgroup_size) +
               " (attribute amdgpu_flat_work_group_size, or __launch_bounds__, raises that)");
    }
    if (beyond(grid, limits_.grid_max_dim))
        refuse("grid " + grid.text() + ": the agent's limit is " + limits_.grid_max_dim.text());
    if (!workgroups_within(grid, workgroup, limits_.max_workgroups))
        refuse("grid " + grid.text() + " in groups of " + workgroup.text() + ": the target numbers work-groups up to " +
               limits_.max_workgroups.text());
    if (!workgroups_fit(grid, workgroup)) {
        const auto& max = kernel_.max_workgroups;
        refuse("grid " + grid.text() + " in groups of " + workgroup.text() + ": the kernel was compiled for at most " +
               Dim3(max[0], max[1], max[2]).text() + " work-groups (0: any number; amdgpu_max_num_work_groups)");
    }
    if (kernel_.uniform_workgroups && (grid.x % workgroup.x || grid.y % workgroup.y || grid.z % workgroup.z)) {
        refuse("grid " + grid.text() + " is not a multiple of the " + group +
               ", which the kernel was compiled to assume");
    }
    refuse("grid " + grid.text() + " has more work-items than the agent's limit, " +
           std::to_string(limits_.grid_max_workitems));
}

void LaunchPlan::refuse_lds(const shared::LdsDemand& lds) const {
    const std::string dynamic = lds.size_bytes == shared::lds_overflow ? "4 GiB or more" : bytes_text(lds.size_bytes);
    refuse("LDS: " + bytes_text(kernel_.group_segment_fixed_bytes) + " static + " + dynamic + " dynamic (aligned to " +
           std::to_string(std::max(lds_align_bytes_, lds.align_bytes)) + ") are more than the agent's " +
           bytes_text(limits_.group_segment_max_bytes) + " per work-group" + largest_array_text(lds));
}

void LaunchPlan::refuse_lds_pointers(const shared::LdsDemand& lds) const {
    if (lds_pointers_.size() > lds.count) {
        refuse("it has " + std::to_string(lds_pointers_.size()) + " dynamic LDS pointer(s), and .lds describes " +
               std::to_string(lds.count) +
               " array(s): give .lds a layout with one array for each, or bytes for a single one");
    }
    for (std::size_t i = 0; i < lds_pointers_.size(); ++i) {
        if (lds.offsets_bytes[i] % lds_pointers_[i].align_bytes == 0) continue;
        const ArgumentMetadata& argument = kernel_.arguments[lds_pointers_[i].argument];
        refuse("LDS array " + std::to_string(i) + " of .lds is at offset " + std::to_string(lds.offsets_bytes[i]) +
               ", and '" + argument.type_name + " " + argument.name + "' needs " +
               std::to_string(lds_pointers_[i].align_bytes) + "-byte alignment");
    }
    refuse("the LDS layout does not fit the kernel's LDS pointers");
}

}  // namespace hsadrv
