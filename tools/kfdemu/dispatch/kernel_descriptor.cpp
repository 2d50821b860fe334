#include "tools/kfdemu/dispatch/kernel_descriptor.hpp"

#include <cstdio>
#include <cstring>

#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu {
namespace {

struct Raw {
    std::uint32_t group_segment_fixed_size;
    std::uint32_t private_segment_fixed_size;
    std::uint32_t kernarg_size;
    std::uint32_t reserved0;
    std::int64_t kernel_code_entry_byte_offset;
    std::uint8_t reserved1[20];
    std::uint32_t rsrc3, rsrc1, rsrc2;
    std::uint16_t properties;
    std::uint16_t kernarg_preload;
    std::uint32_t reserved2;
};
static_assert(sizeof(Raw) == kKernelDescriptorBytes);

constexpr std::uint32_t field(std::uint32_t word, unsigned low, unsigned bits) {
    return (word >> low) & ((1u << bits) - 1);
}

std::string hex(const char* what, std::uint32_t value) {
    char text[128];
    std::snprintf(text, sizeof text, "%s is 0x%x", what, value);
    return text;
}

using Reason = DescriptorRefused::Reason;

/// The first rule that the descriptor violates, or an empty text.
DescriptorRefused broken_rule(const Raw& raw, isa::Target target) {
    const bool unified = isa::traits_of(target).unified_registers;
    for (std::uint8_t byte : raw.reserved1)
        if (byte != 0) return {Reason::Malformed, "reserved bytes 24..43 are not zero"};
    if (raw.reserved0 != 0 || raw.reserved2 != 0)
        return {Reason::Malformed, "reserved bytes 12..15 or 60..63 are not zero"};
    if (raw.kernel_code_entry_byte_offset == 0) return {Reason::Malformed, "the entry offset is zero"};

    // GFX10 and later select 32 lanes with this bit.
    if (field(raw.properties, 10, 1) != 0 && !isa::traits_of(target).wave32)
        return {Reason::WrongIsa, "the kernel is for waves of 32 lanes, but GFX9 has waves of 64"};
    if (!isa::is_built(field(raw.properties, 10, 1) != 0 ? 32 : 64))
        return {Reason::WrongIsa, "this kfdemu executes no waves of so many lanes: build it with -Dwidths=64,32"};
    if (field(raw.rsrc1, 29, 3) != 0 && !isa::traits_of(target).workgroup_processors)
        return {Reason::WrongIsa, hex("compute_pgm_rsrc1 uses bits of GFX10 and later: it", raw.rsrc1)};
    if (isa::traits_of(target).workgroup_processors) {
        // INST_PREF_SIZE, TRAP_ON_START and TRAP_ON_END of GFX11 change nothing that a kernel sees.
        const std::uint32_t ignored = isa::traits_of(target).instruction_prefetch ? 0xff0u : 0;
        const bool may_share = !isa::traits_of(target).split_counters;
        if (may_share && field(raw.rsrc3, 0, 4) != 0)  // SHARED_VGPR_COUNT
            return {Reason::Malformed,
                    hex("VGPRs that halves of a wave share are not emulated: compute_pgm_rsrc3", raw.rsrc3)};
        if ((raw.rsrc3 & ~ignored) != 0)
            return {Reason::Malformed, hex("compute_pgm_rsrc3 has bits that are not emulated: it", raw.rsrc3)};
    } else if (!unified && raw.rsrc3 != 0)
        return {Reason::WrongIsa, hex("compute_pgm_rsrc3 must be 0 before gfx90a and", raw.rsrc3)};
    if (unified && (raw.rsrc3 & ~0x1003fu) != 0)
        return {Reason::WrongIsa, hex("compute_pgm_rsrc3 has reserved bits: it", raw.rsrc3)};

    // PRIORITY, PRIV, DEBUG_MODE, BULKY, CDBG_USER and bits 27, 28: the command processor's.
    if ((raw.rsrc1 & 0x1b500c00u) != 0)
        return {Reason::Malformed, hex("compute_pgm_rsrc1 has bits that must be 0: it", raw.rsrc1)};
    // Address watch, memory violation, LDS size, bit 31: the command processor's. It also sets the trap
    // handler's bit 6, which is therefore read as "do not care".
    if ((raw.rsrc2 & 0x80ffe000u) != 0)
        return {Reason::Malformed, hex("compute_pgm_rsrc2 has bits that must be 0: it", raw.rsrc2)};
    if (field(raw.rsrc2, 24, 7) != 0)
        return {Reason::Malformed,
                hex("floating-point exception traps are not emulated; compute_pgm_rsrc2", raw.rsrc2)};
    if (field(raw.rsrc2, 11, 2) == 3) return {Reason::Malformed, "enable_vgpr_workitem_id is 3, which is reserved"};
    if ((raw.properties & 0xf380u) != 0)
        return {Reason::Malformed, hex("kernel_code_properties has reserved bits: it", raw.properties)};
    if (raw.kernarg_preload != 0 && !isa::traits_of(target).kernarg_preload)
        return {Reason::WrongIsa, hex("kernarg_preload must be 0 before gfx90a and", raw.kernarg_preload)};
    if (isa::traits_of(target).architected_scratch && (raw.properties & 0x21u) != 0)
        return {
            Reason::WrongIsa,
            hex("the hardware sets up scratch, but SGPRs are wanted for it: kernel_code_properties", raw.properties)};
    return {};
}

unsigned enabled_user_sgprs(const KernelDescriptor& d) {
    return 4u * d.private_segment_buffer +
           2u * (d.dispatch_ptr + d.queue_ptr + d.kernarg_ptr + d.dispatch_id + d.flat_scratch_init) +
           d.private_segment_size + d.preload_dwords;
}

/// Firmware that preloads arguments skips the code at the entry that loads them otherwise ("Preloaded Kernel
/// Arguments").
constexpr std::int64_t kLoadsArgumentsBytes = 256;

/// MODE as the dispatcher loads it: rounding and denormals, DX10_CLAMP, IEEE, FP16_OVFL (ISA manual, "MODE register").
std::uint32_t initial_mode(std::uint32_t rsrc1) {
    return field(rsrc1, 12, 8) | field(rsrc1, 21, 1) << 8 | field(rsrc1, 23, 1) << 9 | field(rsrc1, 26, 1) << 23;
}

}  // namespace

std::variant<KernelDescriptor, DescriptorRefused> parse_kernel_descriptor(
    std::span<const std::byte, kKernelDescriptorBytes> bytes, isa::Target target) {
    Raw raw;
    std::memcpy(&raw, bytes.data(), sizeof raw);
    if (DescriptorRefused broken = broken_rule(raw, target); !broken.why.empty()) return broken;

    const bool unified = isa::traits_of(target).unified_registers;
    KernelDescriptor d;
    d.group_segment_bytes = raw.group_segment_fixed_size;
    d.private_segment_bytes = raw.private_segment_fixed_size;
    d.kernarg_bytes = raw.kernarg_size;
    d.entry_offset_bytes = raw.kernel_code_entry_byte_offset;
    d.width = field(raw.properties, 10, 1) != 0 ? 32 : 64;
    d.vgprs = (field(raw.rsrc1, 0, 6) + 1) * (unified || d.width == 32 ? 8 : 4);
    d.sgprs = isa::traits_of(target).workgroup_processors ? 128 : (field(raw.rsrc1, 6, 4) / 2 + 1) * 16;
    d.accum_offset = unified ? (field(raw.rsrc3, 0, 6) + 1) * 4 : 0;
    d.mode = initial_mode(raw.rsrc1);

    d.private_segment_buffer = field(raw.properties, 0, 1);
    d.dispatch_ptr = field(raw.properties, 1, 1);
    d.queue_ptr = field(raw.properties, 2, 1);
    d.kernarg_ptr = field(raw.properties, 3, 1);
    d.dispatch_id = field(raw.properties, 4, 1);
    d.flat_scratch_init = field(raw.properties, 5, 1);
    d.private_segment_size = field(raw.properties, 6, 1);
    d.uses_dynamic_stack = field(raw.properties, 11, 1);
    d.workgroup_processor = isa::traits_of(target).workgroup_processors && field(raw.rsrc1, 29, 1) != 0;
    d.preload_dwords = field(raw.kernarg_preload, 0, 7);
    d.preload_offset_dwords = field(raw.kernarg_preload, 7, 9);
    if (d.preload_dwords != 0) d.entry_offset_bytes += kLoadsArgumentsBytes;

    d.private_segment_wave_offset = field(raw.rsrc2, 0, 1);
    d.user_sgprs = field(raw.rsrc2, 1, 5);
    d.workgroup_id = {field(raw.rsrc2, 7, 1) != 0, field(raw.rsrc2, 8, 1) != 0, field(raw.rsrc2, 9, 1) != 0};
    d.workgroup_info = field(raw.rsrc2, 10, 1);
    d.workitem_id_dimensions = field(raw.rsrc2, 11, 2) + 1;

    // Those that the bits enable must fit in the count.
    if (d.user_sgprs > kMostUserSgprs || enabled_user_sgprs(d) > d.user_sgprs)
        return DescriptorRefused{Reason::Malformed,
                                 hex("user_sgpr_count does not fit the enabled user SGPRs: it", d.user_sgprs)};
    if (d.accum_offset > d.vgprs)
        return DescriptorRefused{Reason::Malformed, hex("accum_offset is beyond the last VGPR: it", d.accum_offset)};
    return d;
}

}  // namespace kfdemu
