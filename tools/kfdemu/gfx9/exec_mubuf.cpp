// MUBUF instructions ("Vega" ISA manual, "Vector Memory Buffer Instructions": addressing and range checking).
#include "executors.hpp"
#include "memory_operations.hpp"
#include "row.hpp"
#include "scratch_access.hpp"

namespace kfdemu::gfx9::KFDEMU_LEVEL {
namespace {

/// The buffer resource descriptor: four SGPRs.
struct Buffer {
    std::uint64_t base;
    std::uint32_t stride, num_records, index_stride, index_shift;
    bool swizzle, add_lane;
};

KFDEMU_INLINE Buffer buffer_of(const std::uint32_t* word) {
    Buffer b;
    b.base = word[0] | std::uint64_t{word[1] & 0xffff} << 32;
    b.swizzle = (word[1] >> 31) != 0;
    b.add_lane = (word[3] >> 23 & 1) != 0;
    // With ADD_TID_ENABLE the data format field extends the stride.
    b.stride = (word[1] >> 16 & 0x3fff) | (b.add_lane ? (word[3] >> 15 & 0xf) << 14 : 0);
    b.num_records = word[2];
    b.index_shift = 3 + (word[3] >> 21 & 3);
    b.index_stride = 1u << b.index_shift;
    return b;
}

/// Where each lane's data begin, and which lanes are inside the buffer for all `bytes`.
struct Lanewise {
    LaneAccess access;
    alignas(64) std::uint32_t bytes_left[kLanes];  ///< linear buffers: inside, from the lane's address on
};

/// The descriptor that runtimes make for scratch: the lane number is the index, and there are as many lanes
/// as a stride.
void scratch_segment_addresses(std::uint64_t base, const std::uint32_t* lane_offset, std::uint32_t offset,
                               Lanewise& out) {
    if (lane_offset != nullptr)
        for (unsigned l = 0; l < kLanes; ++l)
            out.access.at[l] = scratch_address(base, lane_offset[l] + offset, l);
    else
        for (unsigned l = 0; l < kLanes; ++l) out.access.at[l] = scratch_address(base, offset, l);
    for (unsigned l = 0; l < kLanes; ++l) out.bytes_left[l] = ~0u;
}

[[gnu::noinline]] void buffer_addresses(Wave& wave, const Inst& inst, const Buffer& b, Lanewise& out) {
    constexpr std::uint32_t kElementBytes = 4;  // GFX9 knows no other
    const std::uint32_t scalar_offset = wave.s[inst.sdst];
    const bool idxen = inst.has(kIdxen), offen = inst.has(kOffen);
    const std::uint32_t* vaddr = wave.lanes(inst.src[0]);
    const std::uint32_t* voffset = idxen ? vaddr + kLanes : vaddr;
    const std::uint64_t base = b.base + scalar_offset;
    if (b.swizzle && b.add_lane && !idxen && b.index_stride == kLanes && b.num_records >= kLanes)
        return scratch_segment_addresses(base, offen ? voffset : nullptr,
                                         static_cast<std::uint32_t>(inst.offset), out);
    const std::uint32_t limit = b.num_records > scalar_offset ? b.num_records - scalar_offset : 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint32_t index = (idxen ? vaddr[l] : 0) + (b.add_lane ? l : 0);
        const std::uint32_t offset = (offen ? voffset[l] : 0) + static_cast<std::uint32_t>(inst.offset);
        if (b.swizzle) {
            const std::uint64_t msb =
                std::uint64_t{index >> b.index_shift} * b.stride + (offset & ~(kElementBytes - 1));
            out.access.at[l] = base + msb * b.index_stride + (index & (b.index_stride - 1)) * kElementBytes +
                               (offset & (kElementBytes - 1));
            out.bytes_left[l] = index < b.num_records ? ~0u : 0;
        } else {
            const std::uint64_t from_base = std::uint64_t{b.stride} * index + offset;
            out.access.at[l] = base + from_base;
            // Structured: whole records. Raw: bytes.
            const bool structured = b.stride != 0 && idxen;
            out.bytes_left[l] = structured
                                    ? (index < b.num_records ? ~0u : 0)
                                    : (from_base < limit ? limit - static_cast<std::uint32_t>(from_base) : 0);
        }
    }
}

/// Lanes with at least `bytes` left.
[[gnu::noinline]] std::uint64_t lanes_inside(const Lanewise& lanes, unsigned bytes) {
    std::uint64_t mask = 0;
    for (unsigned l = 0; l < kLanes; ++l) mask |= std::uint64_t{lanes.bytes_left[l] >= bytes} << l;
    return mask & lanes.access.mask;
}

/// A buffer's end may lie inside a lane's data: each dword is checked for itself.
template <class Operation>
struct ByDword {
    static bool run(Wave& wave, const Inst& inst, Lanewise& lanes) {
        return Operation::memory(wave, inst, lanes.access);
    }
};
template <template <unsigned> class Move, unsigned N>
KFDEMU_INLINE bool move_by_dword(Wave& wave, const Inst& inst, Lanewise& lanes) {
    const std::uint64_t mask = lanes.access.mask;
    for (unsigned k = 0; k < N; ++k) {
        Inst part = inst;
        part.dst = static_cast<Operand>(inst.dst + k);
        part.src[1] = static_cast<Operand>(inst.src[1] + k);
        LaneAccess a = lanes.access;
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] += k * 4;
        a.mask = lanes_inside(lanes, k * 4 + 4);
        if ((mask & ~a.mask) != 0) Move<1>::outside(wave, part, mask & ~a.mask);
        if (a.mask != 0 && !Move<1>::memory(wave, part, a)) return false;
    }
    return true;
}
template <unsigned N>
struct ByDword<Load<N>> {
    static bool run(Wave& wave, const Inst& inst, Lanewise& lanes) {
        return move_by_dword<Load, N>(wave, inst, lanes);
    }
};
template <unsigned N>
struct ByDword<Store<N>> {
    static bool run(Wave& wave, const Inst& inst, Lanewise& lanes) {
        return move_by_dword<Store, N>(wave, inst, lanes);
    }
};

template <class Operation>
const Inst* buffer(Wave& wave, const Inst& inst) {
    if (inst.has(kLds)) return wave.stop_at(Stop::Illegal, inst);  // loads straight into LDS are not emulated
    const std::uint64_t exec = wave.exec();
    if (exec == 0) return &inst + inst.size;

    const Buffer b = buffer_of(wave.s + inst.src[2]);
    Lanewise lanes;
    lanes.access.mask = exec;
    lanes.access.dword_stride = b.swizzle ? 4 * b.index_stride : 4;
    buffer_addresses(wave, inst, b, lanes);

    const std::uint64_t inside = lanes_inside(lanes, Operation::kBytes);
    if (inside != exec) {
        if (Operation::kAccess != (kRead | kWrite) && Operation::kBytes > 4 && !b.swizzle)
            return ByDword<Operation>::run(wave, inst, lanes) ? &inst + inst.size : nullptr;
        Operation::outside(wave, inst, exec & ~inside);
        if (inside == 0) return &inst + inst.size;
        lanes.access.mask = inside;
    }
    if (b.swizzle && b.add_lane &&
        !in_own_scratch(wave, inst, lanes.access, Operation::kBytes, Operation::kAccess))
        return nullptr;
    return Operation::memory(wave, inst, lanes.access) ? &inst + inst.size : nullptr;
}

/// Host memory is coherent; what remains of cache control is the order, stores before later loads included.
const Inst* fence(Wave&, const Inst& inst) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return &inst + inst.size;
}

}  // namespace

void fill_mubuf(Handler* handlers) {
#define MUBUF(op, name, on, dst, data, attributes, ...) handlers[index(Op::name)] = __VA_ARGS__;
#include "mubuf.inc"
#undef MUBUF
}

}  // namespace kfdemu::gfx9::KFDEMU_LEVEL
