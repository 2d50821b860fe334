#include "hsadrv/hidden_arguments.hpp"

#include <algorithm>
#include <cstring>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

std::uint32_t hidden_size_bytes(ValueKind kind) {
    switch (kind) {
        case ValueKind::hidden_block_count_x:
        case ValueKind::hidden_block_count_y:
        case ValueKind::hidden_block_count_z:
        case ValueKind::hidden_dynamic_lds_size:
        case ValueKind::hidden_private_base:
        case ValueKind::hidden_shared_base:
            return 4;
        case ValueKind::hidden_group_size_x:
        case ValueKind::hidden_group_size_y:
        case ValueKind::hidden_group_size_z:
        case ValueKind::hidden_remainder_x:
        case ValueKind::hidden_remainder_y:
        case ValueKind::hidden_remainder_z:
        case ValueKind::hidden_grid_dims:
            return 2;
        default:
            return 8;
    }
}

bool uses_queue(ValueKind kind) {
    return kind == ValueKind::hidden_queue_ptr || kind == ValueKind::hidden_private_base ||
           kind == ValueKind::hidden_shared_base;
}

/// Global offsets, unused buffers and reserved bytes.
bool is_always_zero(ValueKind kind) {
    return kind == ValueKind::hidden_none ||
           (kind >= ValueKind::hidden_global_offset_x && kind <= ValueKind::hidden_global_offset_z) ||
           kind == ValueKind::hidden_default_queue || kind == ValueKind::hidden_completion_action;
}

/// V5's first 24 bytes of hidden arguments (LLVM AMDGPUUsage, Code Object V5 Metadata). Whole work-groups only are
/// counted; a partial one is in the remainder.
struct Sizes {
    std::uint32_t block_count[3];
    std::uint16_t group_size[3], remainder[3];
};
static_assert(sizeof(Sizes) == 24);
constexpr std::uint32_t sizes_offsets[] = {0, 4, 8, 12, 14, 16, 18, 20, 22};

Sizes sizes_of(const Dim3& grid, const Dim3& group) {
    const auto half = [](std::uint32_t value) { return static_cast<std::uint16_t>(value); };
    return {{grid.x / group.x, grid.y / group.y, grid.z / group.z},
            {half(group.x), half(group.y), half(group.z)},
            {half(grid.x % group.x), half(grid.y % group.y), half(grid.z % group.z)}};
}

template <class T>
void store(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

bool lists(const KernelMetadata& kernel, ValueKind kind) noexcept {
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), [&](const auto& a) { return a.kind == kind; });
}

/// A compiler that has not analysed the kernel lists all buffers.
bool lists_blindly(const KernelMetadata& kernel) noexcept {
    // In V4, the buffers of printf and of hostcalls have the same place.
    const bool buffer =
        lists(kernel, ValueKind::hidden_hostcall_buffer) || lists(kernel, ValueKind::hidden_printf_buffer);
    return buffer && lists(kernel, ValueKind::hidden_multigrid_sync_arg) &&
           lists(kernel, ValueKind::hidden_default_queue) && lists(kernel, ValueKind::hidden_completion_action);
}

}  // namespace

ServiceNeeds ServiceNeeds::of(const KernelMetadata& kernel) noexcept {
    return {.hostcall = lists(kernel, ValueKind::hidden_hostcall_buffer),
            .heap = lists(kernel, ValueKind::hidden_heap_v1)};
}

void HiddenArguments::add(const ArgumentMetadata& argument) {
    if (argument.kind != ValueKind::hidden_none && argument.size_bytes != hidden_size_bytes(argument.kind)) {
        throw InvalidCodeObject("code object metadata: " + argument.kind_text + " has " +
                                std::to_string(argument.size_bytes) + " bytes" + ", wanted " +
                                std::to_string(hidden_size_bytes(argument.kind)));
    }
    if (empty()) begin_bytes_ = argument.offset_bytes;
    end_bytes_ = argument.offset_bytes + argument.size_bytes;
    if (is_always_zero(argument.kind)) return;
    slots_.push_back({argument.offset_bytes, argument.kind});
    needs_queue_ = needs_queue_ || uses_queue(argument.kind);
    if (argument.kind == ValueKind::hidden_remainder_z) merge_sizes();
}

void HiddenArguments::merge_sizes() {
    constexpr std::size_t count = std::size(sizes_offsets);
    if (slots_.size() < count || sizes_offset_ != nowhere) return;
    const Slot* const first = slots_.data() + slots_.size() - count;
    for (std::size_t i = 0; i < count; ++i) {
        const auto kind = static_cast<ValueKind>(static_cast<std::size_t>(ValueKind::hidden_block_count_x) + i);
        if (first[i].kind != kind || first[i].offset_bytes != first->offset_bytes + sizes_offsets[i]) return;
    }
    sizes_offset_ = first->offset_bytes;
    slots_.resize(slots_.size() - count);
}

void HiddenArguments::fill(std::byte* kernarg, const HiddenValues& values, const QueueFacts& queue) const noexcept {
    if (empty()) return;
    std::memset(kernarg + begin_bytes_, 0, end_bytes_ - begin_bytes_);
    const Dim3& grid = values.grid;
    const Dim3& group = values.workgroup;
    if (sizes_offset_ != nowhere) store(kernarg + sizes_offset_, sizes_of(grid, group));
    for (const Slot& hidden : slots_) {
        std::byte* const to = kernarg + hidden.offset_bytes;
        switch (hidden.kind) {
            case ValueKind::hidden_block_count_x:
                store(to, grid.x / group.x);
                break;
            case ValueKind::hidden_block_count_y:
                store(to, grid.y / group.y);
                break;
            case ValueKind::hidden_block_count_z:
                store(to, grid.z / group.z);
                break;
            case ValueKind::hidden_group_size_x:
                store(to, static_cast<std::uint16_t>(group.x));
                break;
            case ValueKind::hidden_group_size_y:
                store(to, static_cast<std::uint16_t>(group.y));
                break;
            case ValueKind::hidden_group_size_z:
                store(to, static_cast<std::uint16_t>(group.z));
                break;
            case ValueKind::hidden_remainder_x:
                store(to, static_cast<std::uint16_t>(grid.x % group.x));
                break;
            case ValueKind::hidden_remainder_y:
                store(to, static_cast<std::uint16_t>(grid.y % group.y));
                break;
            case ValueKind::hidden_remainder_z:
                store(to, static_cast<std::uint16_t>(grid.z % group.z));
                break;
            case ValueKind::hidden_grid_dims:
                store(to, static_cast<std::uint16_t>(std::max(grid.dimensions(), group.dimensions())));
                break;
            case ValueKind::hidden_dynamic_lds_size:
                store(to, values.dynamic_lds_bytes);
                break;
            case ValueKind::hidden_printf_buffer:
                store(to, values.printf_buffer);
                break;
            case ValueKind::hidden_multigrid_sync_arg:
                store(to, values.grid_state);
                break;
            case ValueKind::hidden_hostcall_buffer:
                store(to, services_.hostcall_buffer);
                break;
            case ValueKind::hidden_heap_v1:
                store(to, services_.heap);
                break;
            default:
                break;
        }
    }
    if (needs_queue_) fill_queue(kernarg, queue);
}

void HiddenArguments::fill_queue(std::byte* kernarg, const QueueFacts& queue) const noexcept {
    for (const Slot& hidden : slots_) {
        std::byte* const to = kernarg + hidden.offset_bytes;
        if (hidden.kind == ValueKind::hidden_queue_ptr) store(to, queue.address);
        if (hidden.kind == ValueKind::hidden_shared_base) store(to, queue.shared_base_hi);
        if (hidden.kind == ValueKind::hidden_private_base) store(to, queue.private_base_hi);
    }
}

bool synchronises_grid(const KernelMetadata& kernel) noexcept {
    return lists(kernel, ValueKind::hidden_multigrid_sync_arg) && !lists_blindly(kernel);
}

bool prints_in_buffer(const KernelMetadata& kernel) noexcept { return lists(kernel, ValueKind::hidden_printf_buffer); }

std::optional<std::string> cannot_launch(const KernelMetadata& kernel) {
    const std::string who = "kernel '" + kernel.name + "' ";

    const auto unknown = std::find_if(kernel.arguments.begin(), kernel.arguments.end(),
                                      [](const auto& argument) { return argument.kind == ValueKind::unknown; });
    if (unknown != kernel.arguments.end())
        return who + "has an argument of kind '" + unknown->kind_text + "', which this version of hsadrv does not know";
    if (kernel.cluster_workgroups[0])
        return who + "runs in clusters of work-groups, which a dispatch packet cannot ask for";
    const bool enqueues =
        lists(kernel, ValueKind::hidden_default_queue) || lists(kernel, ValueKind::hidden_completion_action);
    if (lists_blindly(kernel) || !enqueues) return std::nullopt;
    return who + "enqueues kernels from the device, which hsadrv has no buffer for: take that out of the kernel";
}

}  // namespace hsadrv
