#include "tools/kfdemu/dispatch/launch.hpp"

#include <cstdarg>
#include <cstdio>

#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu {
namespace {

[[gnu::format(printf, 2, 3)]] LaunchRefused refused(Refusal reason, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return {reason, text, 0};
}

std::optional<LaunchRefused> check_shape(const KernelDispatchPacket& p) {
    const unsigned dimensions = p.setup;
    if (dimensions < 1 || dimensions > 3)
        return refused(Refusal::InvalidDimensions, "%u dimensions; the packet must have 1 to 3", dimensions);
    for (unsigned d = 0; d < 3; ++d) {
        const unsigned group = p.workgroup_size[d], grid = p.grid_size[d];
        if (group == 0 || grid == 0)
            return refused(Refusal::InvalidSize, "dimension %u: work-group %u, grid %u; neither may be 0", d, group,
                           grid);
        if (d >= dimensions && (group != 1 || grid != 1))
            return refused(Refusal::InvalidDimensions, "dimension %u is unused, but work-group is %u and grid is %u", d,
                           group, grid);
    }
    return std::nullopt;
}

std::optional<LaunchRefused> check_group(const KernelDispatchPacket& p) {
    const std::uint64_t workitems = std::uint64_t{p.workgroup_size[0]} * p.workgroup_size[1] * p.workgroup_size[2];
    if (workitems > kMaxGroupWorkitems)
        return refused(Refusal::GroupTooLarge, "a work-group of %llu work-items; the limit is %u",
                       static_cast<unsigned long long>(workitems), kMaxGroupWorkitems);
    for (unsigned d = 0; d < 3; ++d)
        if (p.grid_size[d] < p.workgroup_size[d])
            return refused(Refusal::InvalidSize, "dimension %u: the grid of %u is smaller than the work-group of %u", d,
                           p.grid_size[d], p.workgroup_size[d]);
    return std::nullopt;
}

/// The ids of Y and Z share a register.
std::optional<LaunchRefused> check_group_numbers(const KernelDispatchPacket& p, const GpuFacts& gpu) {
    if (!isa::traits_of(gpu.target).group_id_in_ttmp) return std::nullopt;
    const auto counts = group_counts(p);
    for (unsigned d = 1; d < 3; ++d)
        if (counts[d] > 0x10000)
            return refused(Refusal::InvalidSize, "dimension %u: %u work-groups; their ids have 16 bits on %s", d,
                           counts[d], isa::name(gpu.target));
    return std::nullopt;
}

}  // namespace

ScratchRing scratch_ring(std::uint32_t size, const GpuFacts& gpu) {
    const unsigned size_bits = isa::traits_of(gpu.target).scratch_size_bits;
    if (size_bits == 0) return {size & 0xfff, (size >> 12 & 0x1fff) * 1024};
    return {(size & 0xfff) * (gpu.shader_engines / gpu.xccs), (size >> 12 & ((1u << size_bits) - 1)) * 256};
}

std::optional<LaunchRefused> check_packet(const KernelDispatchPacket& p, const GpuFacts& gpu) {
    if (auto wrong = check_shape(p)) return wrong;
    if (auto wrong = check_group(p)) return wrong;
    if (auto wrong = check_group_numbers(p, gpu)) return wrong;
    if (p.group_segment_size > gpu.lds_bytes)
        return refused(Refusal::LdsTooLarge, "%u bytes of LDS; a compute unit has %u", p.group_segment_size,
                       gpu.lds_bytes);
    return std::nullopt;
}

std::optional<LaunchRefused> check_scratch(const KernelDispatchPacket& p, const KernelDescriptor& kernel,
                                           const QueueFacts& queue) {
    if (p.private_segment_size == 0) return std::nullopt;
    const std::uint32_t waves = waves_per_group(p, kernel.width);
    // A wave of 32 lanes has as many bytes for half as many.
    const std::uint64_t lane_bytes = std::uint64_t{queue.scratch_lane_bytes} * isa::kMostLanes / kernel.width;
    if (p.private_segment_size > lane_bytes || queue.scratch.waves < waves) {
        LaunchRefused wanted =
            refused(Refusal::NeedsScratch,
                    "%u bytes of scratch per work-item in %u waves; the queue has %llu bytes in %u waves",
                    p.private_segment_size, waves, static_cast<unsigned long long>(lane_bytes), queue.scratch.waves);
        wanted.width = kernel.width;
        wanted.scratch_lane_bytes = p.private_segment_size;
        return wanted;
    }
    return std::nullopt;
}

std::array<std::uint32_t, 3> group_counts(const KernelDispatchPacket& p) {
    std::array<std::uint32_t, 3> counts{};
    for (unsigned d = 0; d < 3; ++d)
        counts[d] =
            static_cast<std::uint32_t>((std::uint64_t{p.grid_size[d]} + p.workgroup_size[d] - 1) / p.workgroup_size[d]);
    return counts;
}

std::uint32_t waves_per_group(const KernelDispatchPacket& p, unsigned width) {
    return (std::uint32_t{p.workgroup_size[0]} * p.workgroup_size[1] * p.workgroup_size[2] + width - 1) / width;
}

}  // namespace kfdemu
