// FLAT, GLOBAL and SCRATCH instructions ("Vega" ISA manual, "FLAT, Scratch and Global Instructions").
#include "executors.hpp"
#include "memory_operations.hpp"
#include "row.hpp"
#include "scratch_access.hpp"

namespace kfdemu::gfx9::KFDEMU_LEVEL {
namespace {

KFDEMU_INLINE void lane_addresses(Wave& wave, const Inst& inst, LaneAccess& a) {
    const std::uint64_t offset = static_cast<std::uint64_t>(std::int64_t{inst.offset});
    const std::uint32_t* low = wave.lanes(inst.src[0]);
    if (inst.src[2] != kNoOperand) {
        const std::uint64_t base = wave.s64(inst.src[2]) + offset;
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] = base + low[l];
        return;
    }
    const std::uint32_t* high = low + kLanes;
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = (low[l] | std::uint64_t{high[l]} << 32) + offset;
}

/// Lanes whose address lies in the 4 GiB from `base`.
KFDEMU_INLINE std::uint64_t lanes_in_aperture(const LaneAccess& a, std::uint64_t base) {
    // All or none are common, and quickly found.
    std::uint64_t inside_any = 0, outside_any = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint64_t lane = a.mask >> l & 1;
        const std::uint64_t inside = (a.at[l] ^ base) >> 32 == 0 ? lane : 0;
        inside_any |= inside;
        outside_any |= lane ^ inside;
    }
    if (inside_any == 0) return 0;
    if (outside_any == 0) return a.mask;
    std::uint64_t mask = 0;
    for (unsigned l = 0; l < kLanes; ++l) mask |= std::uint64_t{(a.at[l] ^ base) >> 32 == 0} << l;
    return mask & a.mask;
}

template <class Operation>
bool private_lanes(Wave& wave, const Inst& inst, const LaneAccess& flat, std::uint64_t mask) {
    LaneAccess a;
    a.mask = mask;
    a.dword_stride = 4 * kLanes;
    const std::uint64_t base = wave.s64(kFlatScratch);
    for (unsigned l = 0; l < kLanes; ++l)
        a.at[l] = scratch_address(base, static_cast<std::uint32_t>(flat.at[l]), l);
    return in_own_scratch(wave, inst, a, Operation::kBytes, Operation::kAccess) &&
           Operation::memory(wave, inst, a);
}

template <class Operation>
bool lds_lanes(Wave& wave, const Inst& inst, const LaneAccess& flat, std::uint64_t mask) {
    LdsAccess a;
    a.mask = mask;
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = static_cast<std::uint32_t>(flat.at[l]);
    // Unlike DS, FLAT reports what lies outside the LDS ("Memory Error Checking").
    if (!lds_has_all(wave, a, Operation::kBytes)) {
        unsigned lane = first_lane(mask);
        while (!active(mask, lane) || lds_has(wave, a.at[lane], Operation::kBytes)) ++lane;
        wave.fault_at(Stop::Aperture, inst, {flat.at[lane], lane, Operation::kAccess});
        return false;
    }
    Operation::local(wave, inst, a);
    return true;
}

/// An address decides by its upper half whether it means LDS, scratch or memory.
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

/// SCRATCH: a 32-bit offset from VGPR or SGPR instead of an address.
template <class Operation>
bool scratch(Wave& wave, const Inst& inst, LaneAccess& a) {
    const std::uint32_t offset = static_cast<std::uint32_t>(inst.offset);
    if (inst.src[2] != kNoOperand) {
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] = wave.s[inst.src[2]] + offset;
    } else {
        const std::uint32_t* lane_offset = wave.lanes(inst.src[0]);
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] = lane_offset[l] + offset;
    }
    return private_lanes<Operation>(wave, inst, a, a.mask);
}

template <class Operation>
const Inst* flat(Wave& wave, const Inst& inst) {
    if (inst.has(kLds)) return wave.stop_at(Stop::Illegal, inst);  // loads straight into LDS are not emulated
    LaneAccess a;
    a.mask = wave.exec();
    if (a.mask == 0) return &inst + inst.size;
    bool done = false;
    if (inst.segment == Segment::Scratch) {
        done = scratch<Operation>(wave, inst, a);
    } else {
        lane_addresses(wave, inst, a);
        done = inst.segment == Segment::Global ? Operation::memory(wave, inst, a)
                                               : by_aperture<Operation>(wave, inst, a);
    }
    return done ? &inst + inst.size : nullptr;
}

}  // namespace

void fill_flat(Handler* handlers) {
#define FLAT(op, name, on, dst, data, attributes, ...) handlers[index(Op::flat_##name)] = __VA_ARGS__;
#include "flat.inc"
#undef FLAT
}

}  // namespace kfdemu::gfx9::KFDEMU_LEVEL
