// Parses and checks the amdhsa kernel descriptor: the 64 bytes at a kernel object's address.
//
//     auto parsed = parse_kernel_descriptor(bytes, isa::Target::gfx90a);
//     if (auto* refused = std::get_if<DescriptorRefused>(&parsed)) say(refused->why);
//     const KernelDescriptor& kernel = std::get<KernelDescriptor>(parsed);
//
// Pure. Source: LLVM AMDGPUUsage, "Kernel Descriptor" and
// "compute_pgm_rsrc1/2/3". Code objects V3 to V6 share this form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu {

inline constexpr std::size_t kKernelDescriptorBytes = 64;
inline constexpr unsigned kMostUserSgprs = 16;  ///< of GFX9

/// The needs of a kernel's waves, in units independent of the target's granules.
struct KernelDescriptor {
    std::uint32_t group_segment_bytes = 0;
    std::uint32_t private_segment_bytes = 0;
    std::uint32_t kernarg_bytes = 0;
    std::int64_t entry_offset_bytes = 0;  ///< from the descriptor's own address, of the first instruction

    unsigned width = isa::kMostLanes;  ///< lanes of a wave: 64 or 32
    unsigned vgprs = 0;                ///< allocated vector registers, including AccVGPRs if the file is unified
    unsigned sgprs = 0;                ///< allocated scalar registers, including VCC and other special registers
    unsigned accum_offset = 0;         ///< first AccVGPR in the unified file; 0 without one
    std::uint32_t mode = 0;            ///< the MODE register at the first instruction

    // The user SGPRs that the command processor loads, in this order, and their total number.
    bool private_segment_buffer = false, dispatch_ptr = false, queue_ptr = false, kernarg_ptr = false;
    bool dispatch_id = false, flat_scratch_init = false, private_segment_size = false;
    unsigned user_sgprs = 0;
    unsigned preload_dwords = 0, preload_offset_dwords = 0;  ///< of the kernel's arguments, into SGPRs after those

    // The system SGPRs and VGPRs that the dispatcher loads for each wave.
    std::array<bool, 3> workgroup_id{};
    bool workgroup_info = false, private_segment_wave_offset = false;
    unsigned workitem_id_dimensions = 1;  ///< 1: x; 2: x, y; 3: x, y, z

    bool uses_dynamic_stack = false;
    bool workgroup_processor = false;  ///< waves of a work-group are on two compute units
};

struct DescriptorRefused {
    enum class Reason { Malformed, WrongIsa };
    Reason reason = Reason::Malformed;
    std::string why;
};

std::variant<KernelDescriptor, DescriptorRefused> parse_kernel_descriptor(
    std::span<const std::byte, kKernelDescriptorBytes> bytes, isa::Target target);

}  // namespace kfdemu
