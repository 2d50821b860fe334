#include "tools/kfdemu/dispatch/initial_state.hpp"

#include <algorithm>
#include <cstring>

#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu {
namespace {

/// A call: what compilers make of a size that they know, `rep stos`, takes as long as the rest of a short wave's start.
void clear(void* memory, std::size_t bytes) {
    asm("" : "+r"(bytes));
    std::memset(memory, 0, bytes);
}
void copy(void* to, const void* from, std::size_t bytes) {
    asm("" : "+r"(bytes));
    std::memcpy(to, from, bytes);
}

/// The work-item ids of a work-group of one dimension.
constexpr std::array<std::uint32_t, kMaxGroupWorkitems> kNumbers = [] {
    std::array<std::uint32_t, kMaxGroupWorkitems> numbers{};
    for (std::uint32_t n = 0; n < numbers.size(); ++n) numbers[n] = n;
    return numbers;
}();

/// Appends to the SGPRs.
struct SgprWriter {
    std::uint32_t* s;
    unsigned next = 0;

    void add(std::uint32_t value) { s[next++] = value; }
    void add64(std::uint64_t value) {
        add(static_cast<std::uint32_t>(value));
        add(static_cast<std::uint32_t>(value >> 32));
    }
};

/// Runtimes leave INDEX_STRIDE to the command processor (ROCR, FillBufRsrcWord3_Gfx10): it is the number of lanes.
void set_index_stride(std::uint32_t& word3, unsigned lanes) {
    word3 = (word3 & ~(3u << 21)) | (lanes == 64 ? 3u : 2u) << 21;
}

/// Returns the number of SGPRs that it set; so do the next.
unsigned set_user_sgprs(isa::Wave& wave, const LaunchState& l) {
    SgprWriter user{wave.s};
    const KernelDescriptor& k = l.kernel;
    if (k.private_segment_buffer) {
        for (std::uint32_t word : l.queue.scratch_descriptor) user.add(word);
        if (isa::traits_of(l.gpu.target).wave32) set_index_stride(wave.s[user.next - 1], k.width);
    }
    if (k.dispatch_ptr) user.add64(l.packet_va);
    if (k.queue_ptr) user.add64(l.queue.queue_ptr);
    if (k.kernarg_ptr) user.add64(l.packet.kernarg_address);
    if (k.dispatch_id) user.add64(l.queue.dispatch_id);
    if (k.flat_scratch_init) user.add64(l.queue.scratch_base);
    if (k.private_segment_size) user.add(l.packet.private_segment_size);
    for (std::uint32_t argument : l.preloaded) user.add(argument);
    return user.next;
}

const isa::Traits& traits_of(const LaunchState& l) { return isa::traits_of(l.gpu.target); }

bool asks_for_y_or_z(const LaunchState& l) { return l.kernel.workgroup_id[1] || l.kernel.workgroup_id[2]; }

/// X in TTMP9, Y and Z in the halves of TTMP7, if the kernel asks for one ("RDNA 4" ISA manual, "SGPR Initialization",
/// as what follows). Z is 0 unless it asks for that (LLVM's SIISelLowering.cpp counts on it).
void set_group_id_in_ttmp(isa::Wave& wave, const LaunchState& l, const std::array<std::uint32_t, 3>& id) {
    wave.s[isa::kTtmp0 + 9] = id[0];
    if (asks_for_y_or_z(l)) wave.s[isa::kTtmp0 + 7] = id[1] | (l.kernel.workgroup_id[2] ? id[2] << 16 : 0);
}

/// TTMP8: whether Y and Z are there, and the wave's number in its work-group.
std::uint32_t wave_in_ttmp(const LaunchState& l, std::uint32_t wave) {
    return std::uint32_t{asks_for_y_or_z(l)} << 30 | wave << 25;
}

unsigned set_group_id(isa::Wave& wave, const LaunchState& l, const std::array<std::uint32_t, 3>& id) {
    if (traits_of(l).group_id_in_ttmp) {
        set_group_id_in_ttmp(wave, l, id);
        return 0;
    }
    SgprWriter system{wave.s, l.kernel.user_sgprs};
    for (unsigned d = 0; d < 3; ++d)
        if (l.kernel.workgroup_id[d]) system.add(id[d]);
    return system.next - l.kernel.user_sgprs;
}

/// From SGPR `first` on, the one after the group's id.
unsigned set_wave_info(isa::Wave& wave, unsigned first, const LaunchState& l, const WavePlace& p) {
    SgprWriter system{wave.s, first};
    // Work-group info: first wave of the group in bit 31, number of waves in bits 5:0.
    if (l.kernel.workgroup_info) system.add((p.wave == 0 ? 1u << 31 : 0) | p.waves);
    if (l.kernel.private_segment_wave_offset && !traits_of(l).architected_scratch)
        system.add(p.scratch_slot * l.queue.scratch.wave_bytes);
    return system.next - first;
}

/// Work-item ids of the wave's lanes.
void set_workitem_ids(isa::Wave& wave, const LaunchState& l, const WavePlace& p) {
    const unsigned dimensions = l.kernel.workitem_id_dimensions;
    const bool packed = traits_of(l).packed_workitem_ids;
    const std::uint32_t width = wave.width, first = p.wave * width;
    const auto [size_x, size_y, size_z] = p.group_workitems;
    if (size_y == 1 && size_z == 1) {  // y and z are 0
        copy(wave.v, &kNumbers[first], width * sizeof wave.v[0]);
        if (!packed && dimensions > 1) std::memset(wave.v + width, 0, (dimensions - 1) * width * sizeof wave.v[0]);
        return;
    }
    std::uint32_t x = first % size_x, y = first / size_x % size_y, z = first / (size_x * size_y);
    for (unsigned lane = 0; lane < width; ++lane) {
        if (packed) {
            wave.v[lane] = x | (dimensions > 1 ? y << 10 : 0) | (dimensions > 2 ? z << 20 : 0);
        } else {
            wave.v[lane] = x;
            if (dimensions > 1) wave.v[width + lane] = y;
            if (dimensions > 2) wave.v[2 * width + lane] = z;
        }
        if (++x < size_x) continue;
        x = 0;
        if (++y < size_y) continue;
        y = 0;
        ++z;
    }
}

/// Zeroes the VGPRs: earlier waves do not show through, and kernels that read uninitialized registers are repeatable.
void clear_vgprs(isa::Wave& wave, const LaunchState& l) {
    const std::size_t bytes = std::size_t{l.kernel.vgprs} * wave.width * sizeof wave.v[0];
    clear(wave.v, bytes);
    if (traits_of(l).separate_accumulators) clear(wave.acc, bytes);
}

/// Fills VGPRs, and the SGPRs below the trap handler's, with garbage, as earlier waves leave it on hardware.
void spoil_registers(isa::Wave& wave, const LaunchState& l, std::uint64_t place) {
    const unsigned scalars = traits_of(l).scratch_register ? isa::kVcc : isa::kXnackMask;
    l.garbage->fill(wave.s, scalars * sizeof wave.s[0], place);
    wave.set_s64(isa::kVcc, std::uint64_t{l.garbage->word(place + 1)} << 32 | l.garbage->word(place + 2));
    wave.s[isa::kM0] = l.garbage->word(place + 3);
    const std::size_t bytes = std::size_t{l.kernel.vgprs} * wave.width * sizeof wave.v[0];
    l.garbage->fill(wave.v, bytes, place + 4);
    if (traits_of(l).separate_accumulators) l.garbage->fill(wave.acc, bytes, place + 5);
}

/// HW_ID: WAVE_ID 3:0, SIMD_ID 5:4, CU_ID 11:8, SE_ID from 13 on ("Vega" ISA manual, HW_ID). Compute units are
/// distributed round-robin over the XCCs, and in each over its shader engines (kfd_mqd_manager.c).
std::uint32_t hw_id_of(std::uint32_t wave) { return (wave / 4 & 0xf) | (wave & 3) << 4; }

/// HW_ID1 of GFX10: WAVE_ID 4:0, SIMD_ID 9:8, WGP_ID 13:10, SA_ID 16, SE_ID from 18 on; SIMD_ID's lower bit is the
/// compute unit. Pairs of units are distributed round-robin over the engines, then over the arrays of each
/// (kfd_mqd_manager.c).
std::uint32_t hw_id1_of(std::uint32_t wave, bool both_units) {
    const std::uint32_t simd = both_units ? wave & 3 : (wave & 1) << 1;
    return (wave / (both_units ? 4 : 2) & 0x1f) | simd << 8;
}
std::uint32_t place_in_processors(const GpuFacts& gpu, std::uint32_t compute_unit) {
    const std::uint32_t processor = compute_unit / 2, engine = processor % gpu.shader_engines,
                        in_engine = processor / gpu.shader_engines, array = in_engine % gpu.arrays_per_engine;
    return (compute_unit & 1) << 8 | in_engine / gpu.arrays_per_engine << 10 | array << 16 | engine << 18;
}

}  // namespace

UnitPlace place_of_unit(const GpuFacts& gpu, std::uint32_t compute_unit) {
    if (isa::traits_of(gpu.target).workgroup_processors) return {place_in_processors(gpu, compute_unit), 0};
    const std::uint32_t engine = compute_unit / gpu.xccs % (gpu.shader_engines / gpu.xccs),
                        unit = compute_unit / gpu.shader_engines;
    return {(unit & 0xf) << 8 | engine << 13, static_cast<std::uint8_t>(compute_unit % gpu.xccs)};
}

InitialState::InitialState(const LaunchState& launch) : launch_{launch} {
    const LaunchState& l = launch_;
    std::fill_n(common.s, std::size(common.s), 0);
    registers_.user_sgprs = set_user_sgprs(common, l);
    registers_.first_system_sgpr = l.kernel.user_sgprs;
    group_id_sgprs_ = set_group_id(common, l, {});
    registers_.system_sgprs = group_id_sgprs_ + set_wave_info(common, l.kernel.user_sgprs + group_id_sgprs_, l, {});
    registers_.flat_scratch = traits_of(l).architected_scratch && !traits_of(l).scratch_register;
    registers_.xnack_mask = !traits_of(l).scratch_register;
    registers_.group_id_yz = !traits_of(l).group_id_in_ttmp || asks_for_y_or_z(l);
    registers_.lanes = l.kernel.width;
    registers_.allocated_vgprs = l.kernel.vgprs;
    registers_.vgprs = traits_of(l).packed_workitem_ids ? 1 : l.kernel.workitem_id_dimensions;
    common.width = static_cast<std::uint8_t>(l.kernel.width);
    isa::set_traits(common, traits_of(l));
    common.pc = l.packet.kernel_object + static_cast<std::uint64_t>(l.kernel.entry_offset_bytes);
    common.shared_base = l.gpu.shared_base;
    common.private_base = l.gpu.private_base;
    common.scratch_size_bytes = l.packet.private_segment_size != 0 ? l.queue.scratch.wave_bytes : 0;
    // Read by s_getreg. GPR_ALLOC and LDS_ALLOC: sizes in granules ("Vega" ISA manual, "Hardware register values").
    common.gpr_alloc = ((l.kernel.vgprs / 4 - 1) & 0x3f) << 8 | ((l.kernel.sgprs / 16 - 1) & 0xf) << 24;
    common.lds_alloc = (l.packet.group_segment_size + l.gpu.lds_granule_bytes - 1) / l.gpu.lds_granule_bytes << 12;
    isa::set_mode(common, l.kernel.mode);
}

void InitialState::begin_group(const std::array<std::uint32_t, 3>& id) { set_group_id(common, launch_, id); }

void InitialState::set(isa::Wave& wave, std::uint32_t* v, const WavePlace& p) const {
    const LaunchState& l = launch_;
    copy(wave.s, common.s, isa::kConstants * sizeof wave.s[0]);
    constexpr std::size_t scalars = offsetof(isa::Wave, v);
    copy(reinterpret_cast<std::byte*>(&wave) + scalars, reinterpret_cast<const std::byte*>(&common) + scalars,
         sizeof wave - scalars);
    wave.v = v;
    wave.acc = v + (traits_of(l).unified_registers ? l.kernel.accum_offset : 256) * wave.width;
    if (l.garbage) {
        spoil_registers(wave, l, p.garbage_place);
        std::copy_n(common.s, registers_.user_sgprs, wave.s);
        std::copy_n(common.s + l.kernel.user_sgprs, group_id_sgprs_, wave.s + l.kernel.user_sgprs);
    } else {
        clear_vgprs(wave, l);
    }
    set_wave_info(wave, l.kernel.user_sgprs + group_id_sgprs_, l, p);
    if (traits_of(l).group_id_in_ttmp) wave.s[isa::kTtmp0 + 8] = wave_in_ttmp(l, p.wave);
    set_workitem_ids(wave, l, p);
    const std::uint32_t active = std::min<std::uint32_t>(wave.width, p.workitems() - p.wave * wave.width);
    wave.set_s64(isa::kExec, ~std::uint64_t{0} >> (isa::kMostLanes - active));
    wave.index_in_group = p.wave;
    wave.status = p.waves > 1 ? isa::kInGroup : 0;
    wave.scratch_va = l.queue.scratch_base + std::uint64_t{p.scratch_slot} * l.queue.scratch.wave_bytes;
    const isa::Traits& traits = traits_of(l);
    if (traits.architected_scratch || traits.scratch_register)
        wave.set_s64(wave.flat_scratch, traits.architected_scratch ? wave.scratch_va : 0);
    const bool processors = traits.workgroup_processors;
    wave.hw_id = (processors ? hw_id1_of(p.wave, l.kernel.workgroup_processor) : hw_id_of(p.wave)) ^ p.unit.hw_id;
    if (traits.xcc_registers) wave.xcc = p.unit.xcc;
}

}  // namespace kfdemu
