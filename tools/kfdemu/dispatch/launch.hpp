// The inputs of a kernel launch (AQL packet, queue and GPU properties), and the command processor's checks of them.
//
//     if (auto refused = check_packet(packet, gpu)) report(refused->reason, refused->why);
//     if (auto refused = check_scratch(packet, kernel, queue)) …
//
// Pure. Sources: HSA Platform System Architecture, "AQL kernel
// dispatch packet"; LLVM AMDGPUUsage, "Initial Kernel Execution State"; the amd_queue_t layout that runtimes
// and hardware share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/kfdemu/base/apertures.hpp"
#include "tools/kfdemu/dispatch/kernel_descriptor.hpp"

namespace kfdemu {

/// An AQL kernel dispatch packet, as laid out in the ring.
struct KernelDispatchPacket {
    std::uint16_t header = 0;
    std::uint16_t setup = 0;  ///< bits 1:0: number of dimensions
    std::array<std::uint16_t, 3> workgroup_size{};
    std::uint16_t reserved0 = 0;
    std::array<std::uint32_t, 3> grid_size{};  ///< in work-items
    std::uint32_t private_segment_size = 0;    ///< bytes per work-item
    std::uint32_t group_segment_size = 0;      ///< bytes per work-group
    std::uint64_t kernel_object = 0;           ///< address of the kernel descriptor
    std::uint64_t kernarg_address = 0;
    std::uint64_t reserved2 = 0;
    std::uint64_t completion_signal = 0;
};
static_assert(sizeof(KernelDispatchPacket) == 64);

/// Properties of the GPU model.
struct GpuFacts {
    isa::Target target = isa::Target::gfx90a;
    std::uint32_t lds_bytes = 64 * 1024;         ///< of a compute unit, and the limit of a work-group
    std::uint32_t lds_granule_bytes = 512;       ///< of what a work-group has
    std::uint32_t xccs = 1, shader_engines = 8;  ///< shader engines of all XCCs
    std::uint32_t arrays_per_engine = 1;
    std::uint64_t shared_base = kLdsAperture.base;
    std::uint64_t private_base = kScratchAperture.base;
};

/// A queue's scratch memory: slots, one per resident wave.
struct ScratchRing {
    std::uint32_t waves = 0;  ///< of an XCC
    std::uint32_t wave_bytes = 0;
};
/// What amd_queue_t's compute_tmpring_size says: waves and KiB; from GFX11 on the waves of one shader engine, and
/// units of 256 bytes.
ScratchRing scratch_ring(std::uint32_t compute_tmpring_size, const GpuFacts& gpu);

/// Properties of the queue: fields of amd_queue_t, read when the packet is taken.
struct QueueFacts {
    std::uint64_t queue_ptr = 0;                        ///< address of the amd_queue_t
    std::array<std::uint32_t, 4> scratch_descriptor{};  ///< scratch_resource_descriptor
    std::uint64_t scratch_base = 0;                     ///< scratch_backing_memory_location
    std::uint32_t scratch_lane_bytes = 0;               ///< scratch_wave64_lane_byte_size
    ScratchRing scratch;
    std::uint64_t dispatch_id = 0;  ///< index of the packet in the queue, from 0
    std::uint64_t queue_id = 0;     ///< hsa_queue_t::id
    std::uint32_t gpu = 0;          ///< number of the GPU
};

inline constexpr std::uint32_t kMaxGroupWorkitems = 1024;

enum class Refusal {
    InvalidDimensions,  ///< not 1 to 3, or an unused dimension is not 1
    InvalidSize,        ///< a work-group or grid size is 0, or the grid is smaller than a work-group
    GroupTooLarge,      ///< more than kMaxGroupWorkitems
    LdsTooLarge,        ///< more than the compute unit has
    NeedsScratch,       ///< the queue's scratch is too small: `scratch_lane_bytes` are needed
    BadKernelObject,    ///< null, unmapped, misaligned, or not a kernel descriptor
    WrongIsa,           ///< a descriptor for other hardware
};

struct LaunchRefused {
    Refusal reason;
    std::string why;
    std::uint32_t scratch_lane_bytes = 0;
    unsigned width = isa::kMostLanes;  ///< of the kernel's waves
};

/// The first reason why the packet cannot be launched, whatever its kernel, or std::nullopt.
std::optional<LaunchRefused> check_packet(const KernelDispatchPacket& packet, const GpuFacts& gpu);
/// Whether the queue's scratch suffices: else NeedsScratch.
std::optional<LaunchRefused> check_scratch(const KernelDispatchPacket& packet, const KernelDescriptor& kernel,
                                           const QueueFacts& queue);

/// Work-groups in each dimension, including partial ones at the edge.
std::array<std::uint32_t, 3> group_counts(const KernelDispatchPacket& packet);
/// Waves of `width` lanes of a full work-group.
std::uint32_t waves_per_group(const KernelDispatchPacket& packet, unsigned width);

}  // namespace kfdemu
