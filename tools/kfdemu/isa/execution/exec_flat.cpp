// FLAT, GLOBAL and SCRATCH instructions ("Vega" ISA manual, "FLAT, Scratch and Global Instructions").
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/simple_handlers.hpp"
#include "tools/kfdemu/isa/memory/memory_operations.hpp"
#include "tools/kfdemu/isa/memory/scratch_access.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

[[gnu::noinline]] void lane_addresses(Wave& wave, const Inst& inst, LaneAccess& a) {
    const std::uint64_t offset = static_cast<std::uint64_t>(std::int64_t{inst.offset});
    const std::uint32_t* low = lanes_of(wave, inst.src[0]);
    if (inst.src[2] != kNoOperand) {
        const std::uint64_t base = wave.s64(inst.src[2]) + offset;
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] = base + low[l];
        return;
    }
    const std::uint32_t* high = low + kLanes;
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = (low[l] | std::uint64_t{high[l]} << 32) + offset;
}

/// The lanes with addresses in the 4 GiB from `base`.
[[gnu::noinline]] std::uint64_t lanes_in_aperture(const LaneAccess& a, std::uint64_t base) {
    const auto far = [=, &a](unsigned l) { return (a.at[l] ^ base) >> 32; };
    const auto near = [=](unsigned l) { return far(l) == 0 ? std::uint64_t{1} : 0; };
    // Fast path: usually all lanes or none are inside.
    if (any_bits<std::uint64_t>(a.mask, far) == 0) return a.mask;
    if (any_bits<std::uint64_t>(a.mask, near) == 0) return 0;
    std::uint64_t mask = 0;
    for (unsigned l = 0; l < kLanes; ++l) mask |= near(l) << l;
    return mask & a.mask;
}

/// Maps the low halves of the `flat` addresses to the private segment; false: it faulted.
[[gnu::noinline]] bool to_scratch(Wave& wave, const Inst& inst, const LaneAccess& flat, std::uint64_t mask,
                                  unsigned bytes, std::uint32_t access, LaneAccess& out) {
    out.mask = mask;
    out.dword_stride = 4 * kLanes;
    const std::uint64_t base = wave.s64(wave.flat_scratch);
    for (unsigned l = 0; l < kLanes; ++l) out.at[l] = scratch_address(base, static_cast<std::uint32_t>(flat.at[l]), l);
    return in_own_scratch(wave, inst, out, bytes, access);
}

/// Likewise for LDS. Unlike DS, FLAT reports out-of-range addresses ("Memory Error Checking").
[[gnu::noinline]] bool to_lds(Wave& wave, const Inst& inst, const LaneAccess& flat, std::uint64_t mask, unsigned bytes,
                              std::uint32_t access, LdsAccess& out) {
    out.mask = mask;
    for (unsigned l = 0; l < kLanes; ++l) out.at[l] = static_cast<std::uint32_t>(flat.at[l]);
    if (lds_has_all(wave, out, bytes)) return true;
    unsigned lane = first_lane(mask);
    while (!active(mask, lane) || lds_has(wave, out.at[lane], bytes)) ++lane;
    wave.fault_at(Stop::Aperture, inst, {flat.at[lane], lane, access});
    return false;
}

template <class Operation>
bool private_lanes(Wave& wave, const Inst& inst, const LaneAccess& flat, std::uint64_t mask) {
    LaneAccess a;
    return to_scratch(wave, inst, flat, mask, Operation::kBytes, Operation::kAccess, a) &&
           Operation::memory(wave, inst, a);
}

template <class Operation>
bool lds_lanes(Wave& wave, const Inst& inst, const LaneAccess& flat, std::uint64_t mask) {
    LdsAccess a;
    if (!to_lds(wave, inst, flat, mask, Operation::kBytes, Operation::kAccess, a)) return false;
    Operation::local(wave, inst, a);
    return true;
}

/// The upper half of each address selects LDS, scratch or memory.
template <class Operation>
bool by_aperture(Wave& wave, const Inst& inst, LaneAccess& a) {
    const std::uint64_t lds = lanes_in_aperture(a, wave.shared_base);
    const std::uint64_t scratch = lanes_in_aperture(a, wave.private_base);
    if ((lds | scratch) == 0) return Operation::memory(wave, inst, a);
    if (lds != 0 && !lds_lanes<Operation>(wave, inst, a, lds)) return false;
    if (scratch != 0 && !private_lanes<Operation>(wave, inst, a, scratch)) return false;
    a.mask &= ~(lds | scratch);
    return a.mask == 0 || Operation::memory(wave, inst, a);
}

/// SCRATCH: a 32-bit offset in a VGPR or SGPR instead of an address.
[[gnu::noinline]] void scratch_offsets(Wave& wave, const Inst& inst, LaneAccess& a) {
    const std::uint32_t offset = static_cast<std::uint32_t>(inst.offset),
                        base = inst.src[2] != kNoOperand ? wave.s[inst.src[2]] + offset : offset;
    if (inst.src[0] == kNoOperand) {
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] = base;
        return;
    }
    const std::uint32_t* lane_offset = lanes_of(wave, inst.src[0]);
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = lane_offset[l] + base;
}

/// Whether each lane's data begin `pitch` bytes after those of the lane before; `va` is then where the first lane's do.
/// Of VGPRs, without the addresses of all lanes.
KFDEMU_INLINE bool adjacent(Wave& wave, const Inst& inst, unsigned pitch, std::uint64_t& va) {
    constexpr unsigned last = kLanes - 1;
    const std::uint32_t* low = lanes_of(wave, inst.src[0]);
    if (low[last] - low[0] != last * pitch || low[last] < low[0] || any_apart(low, kAllLanes, low[0], pitch))
        return false;
    va = low[0] + static_cast<std::uint64_t>(std::int64_t{inst.offset});
    if (inst.src[2] != kNoOperand) {
        va += wave.s64(inst.src[2]);
        return true;
    }
    const std::uint32_t* high = low + kLanes;
    va += std::uint64_t{high[0]} << 32;
    return high[last] == high[0] && !any_apart(high, kAllLanes, high[0], 0);
}

/// What coalesced code does: all lanes move one block. False: they do not, or it cannot be accessed as a whole.
template <class Operation>
[[gnu::noinline]] bool moves_block(Wave& wave, const Inst& inst) {
    std::uint64_t va = 0;
    if (!adjacent(wave, inst, Operation::kBytes, va)) return false;
    const auto is_in = [=](std::uint64_t aperture) { return (va ^ aperture) >> 32 == 0; };
    if (inst.segment == Segment::Flat && (is_in(wave.shared_base) || is_in(wave.private_base))) return false;
    const Tlb::Entry* entry = translate(wave, va, kLanes * Operation::kBytes, Operation::kAccess);
    if (entry == nullptr) return false;
    Operation::block(wave, inst, entry->at(va));
    return true;
}

/// GLOBAL and SCRATCH loads directly into LDS.
template <class Operation>
const Inst* flat_to_lds(Wave& wave, const Inst& inst) {
    if constexpr (!kLoadsToLds<Operation>) {
        return wave.stop_at(Stop::Illegal, inst);
    } else {
        if (inst.segment == Segment::Flat) return wave.stop_at(Stop::Illegal, inst);
        LaneAccess a, scratch;
        a.mask = exec_of(wave);
        if (a.mask == 0) return &inst + inst.size;
        const bool is_scratch = inst.segment == Segment::Scratch;
        if (is_scratch) {
            scratch_offsets(wave, inst, a);
            if (!to_scratch(wave, inst, a, a.mask, Operation::kBytes, kRead, scratch)) return nullptr;
        } else {
            lane_addresses(wave, inst, a);
        }
        constexpr unsigned N = kWords<Operation>;
        alignas(64) std::uint32_t values[N * kLanes];
        if (!Operation::fetch(wave, inst, is_scratch ? scratch : a, values)) return nullptr;
        lds_store<N>(wave, direct_lds<N>(wave, inst, exec_of(wave)), values);
        return &inst + inst.size;
    }
}

template <class Operation>
const Inst* flat(Wave& wave, const Inst& inst) {
    if (inst.has(kLds)) return flat_to_lds<Operation>(wave, inst);
    LaneAccess a;
    a.mask = exec_of(wave);
    if (a.mask == 0) return &inst + inst.size;
    if constexpr (kMovesDwords<Operation>) {
        if (a.mask == kAllLanes && inst.segment != Segment::Scratch && moves_block<Operation>(wave, inst))
            return &inst + inst.size;
    }
    bool done = false;
    if (inst.segment == Segment::Scratch) {
        scratch_offsets(wave, inst, a);
        done = private_lanes<Operation>(wave, inst, a, a.mask);
    } else {
        lane_addresses(wave, inst, a);
        done =
            inst.segment == Segment::Global ? Operation::memory(wave, inst, a) : by_aperture<Operation>(wave, inst, a);
    }
    return done ? &inst + inst.size : nullptr;
}

/// GLOBAL_LOAD_DWORD_ADDTID and GLOBAL_STORE_DWORD_ADDTID: a dword a lane.
template <class Operation>
const Inst* flat_by_lane(Wave& wave, const Inst& inst) {
    LaneAccess a;
    a.mask = exec_of(wave);
    if (a.mask == 0) return &inst + inst.size;
    const std::uint64_t base =
        (inst.src[2] != kNoOperand ? wave.s64(inst.src[2]) : 0) + static_cast<std::uint64_t>(std::int64_t{inst.offset});
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = base + 4 * l;
    return Operation::memory(wave, inst, a) ? &inst + inst.size : nullptr;
}

/// GLOBAL_LOAD_BLOCK and its like: dword n of a lane, for each bit n of M0, at the lane's address + 4 * n.
template <class Operation>
const Inst* flat_block(Wave& wave, const Inst& inst) {
    LaneAccess a;
    a.mask = exec_of(wave);
    if (a.mask == 0) return &inst + inst.size;
    const bool is_scratch = inst.segment == Segment::Scratch;
    is_scratch ? scratch_offsets(wave, inst, a) : lane_addresses(wave, inst, a);
    for (unsigned n = 0; n < 32; ++n) {
        if ((wave.s[kM0] >> n & 1) == 0) continue;
        Inst part = inst;
        part.dst = static_cast<Operand>(inst.dst + n);
        part.src[1] = static_cast<Operand>(inst.src[1] + n);
        LaneAccess moved = a;
        for (unsigned l = 0; l < kLanes; ++l) moved.at[l] += 4 * n;
        const bool done =
            is_scratch ? private_lanes<Operation>(wave, part, moved, moved.mask) : Operation::memory(wave, part, moved);
        if (!done) return wave.stop_at(wave.stop, inst);
    }
    return &inst + inst.size;
}

/// GLOBAL_LOAD_TR_B128: of each eight lanes, the eight halves of one become one half of each, as programs find on
/// gfx1201. It needs all lanes, of a wave that has 32 ("RDNA 4" ISA manual, "Load with transpose").
const Inst* load_transposed(Wave& wave, const Inst& inst) {
    if (kLanes != 32 || exec_of(wave) != kAllLanes) return wave.stop_at(Stop::Illegal, inst);
    constexpr unsigned dwords = 4, side = 8;
    LaneAccess a;
    a.mask = kAllLanes;
    lane_addresses(wave, inst, a);
    alignas(64) std::uint32_t loaded[dwords * kLanes], result[dwords * kLanes] = {};
    if (!Load<dwords>::fetch(wave, inst, a, loaded)) return nullptr;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        for (unsigned n = 0; n < side; ++n) {
            const unsigned from = lane / side * side + n, half = lane % side;
            const std::uint32_t value = loaded[half / 2 * kLanes + from] >> 16 * (half % 2) & 0xffff;
            result[n / 2 * kLanes + lane] |= value << 16 * (n % 2);
        }
    __builtin_memcpy(lanes_of(wave, inst.dst), result, sizeof result);
    return &inst + inst.size;
}

}  // namespace

void fill_flat(Handler* handlers) {
#define FLAT(op, name, on, dst, data, attributes, element, code, ...) handlers[index(Op::flat_##name)] = __VA_ARGS__;
#include "tools/kfdemu/isa/rows/flat.inc"
#undef FLAT
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
