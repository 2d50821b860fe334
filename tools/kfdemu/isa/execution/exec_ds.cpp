// DS instructions: LDS, and the permutes that use LDS hardware without memory ("Vega" ISA manual, "Local Data Share"
// and "DS Instructions"). GFX9 does not bound LDS by M0; only the forms addressed by M0 read it. GDS is not emulated.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/memory/gws_operations.hpp"
#include "tools/kfdemu/isa/memory/memory_operations.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

enum Returns : bool { kNothing = false, kReturns = true };

KFDEMU_INLINE std::uint32_t offset16(const Inst& inst) { return static_cast<std::uint32_t>(inst.offset) & 0xffff; }
KFDEMU_INLINE std::uint32_t offset0(const Inst& inst) { return static_cast<std::uint32_t>(inst.offset) & 0xff; }
KFDEMU_INLINE std::uint32_t offset1(const Inst& inst) { return static_cast<std::uint32_t>(inst.offset) >> 8 & 0xff; }

[[gnu::noinline]] void addresses(Wave& wave, const Inst& inst, std::uint32_t offset, LdsAccess& a) {
    const std::uint32_t* address = lanes_of(wave, inst.src[0]);
    a.mask = exec_of(wave);
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = address[l] + offset;
}

/// The first checks of every handler: GDS is illegal; without active lanes there is nothing to do.
#define KFDEMU_DS_PROLOGUE(wave, inst)                                \
    if ((inst).has(kLds)) return (wave).stop_at(Stop::Illegal, inst); \
    if (exec_of(wave) == 0) return &(inst) + (inst).size

template <unsigned N>
const Inst* read(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a;
    addresses(wave, inst, offset16(inst), a);
    lds_load<N>(wave, a, lanes_of(wave, inst.dst));
    return &inst + inst.size;
}

/// It needs all lanes (MI350 ISA manual, DS_READ_B64_TR_B16).
template <unsigned N, unsigned width>
const Inst* read_transposed(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    if (exec_of(wave) != kAllLanes) return wave.stop_at(Stop::Illegal, inst);
    LdsAccess a;
    addresses(wave, inst, offset16(inst), a);
    alignas(64) std::uint32_t loaded[N * kLanes], result[N * kLanes] = {};
    lds_load<N>(wave, a, loaded);
    constexpr unsigned count = 32 * N / width;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned bit = 0; bit < 32 * N; ++bit) {
            const Transposed source = transposed(count, lane, bit / width);
            const unsigned from = source.from_number * width + bit % width;
            const std::uint32_t word = loaded[from / 32 * kLanes + source.from_lane];
            result[bit / 32 * kLanes + lane] |= (word >> from % 32 & 1) << bit % 32;
        }
    }
    __builtin_memcpy(lanes_of(wave, inst.dst), result, sizeof result);
    return &inst + inst.size;
}

template <unsigned N>
const Inst* write(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a;
    addresses(wave, inst, offset16(inst), a);
    lds_store<N>(wave, a, lanes_of(wave, inst.src[1]));
    return &inst + inst.size;
}

/// Two values of N dwords; offsets are in elements, in units of 64 elements for the st64 forms.
template <unsigned N, unsigned Stride>
const Inst* read2(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a, b;
    addresses(wave, inst, offset0(inst) * N * 4 * Stride, a);
    addresses(wave, inst, offset1(inst) * N * 4 * Stride, b);
    lds_load<N>(wave, a, lanes_of(wave, inst.dst));
    lds_load<N>(wave, b, lanes_of(wave, inst.dst) + N * kLanes);
    return &inst + inst.size;
}

template <unsigned N, unsigned Stride>
const Inst* write2(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a;
    addresses(wave, inst, offset0(inst) * N * 4 * Stride, a);
    lds_store<N>(wave, a, lanes_of(wave, inst.src[1]));
    addresses(wave, inst, offset1(inst) * N * 4 * Stride, a);
    lds_store<N>(wave, a, lanes_of(wave, inst.src[2]));
    return &inst + inst.size;
}

/// Bytes and halves, through memory_operations.hpp.
template <class Operation>
const Inst* small(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a;
    addresses(wave, inst, offset16(inst), a);
    Operation::local(wave, inst, a);
    return &inst + inst.size;
}

template <class Op>
inline constexpr bool kTwoOperands =
    __is_same(Op, MaskOr<typename Op::T>) || __is_same(Op, CompareStore<typename Op::T>) ||
    __is_same(Op, CompareStoreFloat) || __is_same(Op, CompareStoreDouble) || __is_same(Op, Wrap) || kSwapsIfEqual<Op>;

template <class Op, Returns returns = kNothing>
const Inst* atomic(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    using T = typename Op::T;
    const FloatMode<Op::kFloats> mode{wave};
    LdsAccess a;
    addresses(wave, inst, offset16(inst), a);
    const std::uint32_t* first = lanes_of(wave, inst.src[1]);
    const std::uint32_t* second = kTwoOperands<Op> ? lanes_of(wave, inst.src[2]) : nullptr;
    for_each_lane(a.mask, [&](unsigned l) {
        T b = 0;
        if constexpr (kTwoOperands<Op>) b = lane_value<T>(second, l);
        const T old = lds_atomic<Op>(wave, a.at[l], lane_value<T>(first, l), b);
        if constexpr (returns) set_lane_value(lanes_of(wave, inst.dst), l, old);
    });
    return &inst + inst.size;
}

template <class T, unsigned Stride>
const Inst* exchange2(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a, b;
    addresses(wave, inst, offset0(inst) * sizeof(T) * Stride, a);
    addresses(wave, inst, offset1(inst) * sizeof(T) * Stride, b);
    for_each_lane(a.mask, [&](unsigned l) {
        const T first = lane_value<T>(lanes_of(wave, inst.src[1]), l),
                second = lane_value<T>(lanes_of(wave, inst.src[2]), l);
        const T old_first = lds_atomic<Swap<T>>(wave, a.at[l], first, 0);
        const T old_second = lds_atomic<Swap<T>>(wave, b.at[l], second, 0);
        set_lane_value(lanes_of(wave, inst.dst), l, old_first);
        set_lane_value(lanes_of(wave, inst.dst) + sizeof(T) / 4 * kLanes, l, old_second);
    });
    return &inst + inst.size;
}

/// A is at the address, the operand B at A + 4 * {OFFSET1[6], OFFSET1[6:0], OFFSET0}. If OFFSET1[7] is set, B is at A +
/// 4 * ADDR[31:17] and A is ADDR[16:0]. Both distances are signed ("Vega" ISA manual, DS_ADD_SRC2_U32).
template <class Op>
const Inst* atomic_src2(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    using T = typename Op::T;
    const FloatMode<Op::kFloats> mode{wave};
    const std::uint32_t* address = lanes_of(wave, inst.src[0]);
    const bool own_distance = (offset16(inst) & 0x8000) != 0;
    const auto distance = static_cast<std::int32_t>(offset16(inst) << 17) >> 17;
    for_each_lane(exec_of(wave), [&](unsigned l) {
        const std::uint32_t a = own_distance ? address[l] & 0x1ffff : address[l];
        const std::int32_t dwords = own_distance ? static_cast<std::int32_t>(address[l]) >> 17 : distance;
        const std::uint32_t b = a + 4 * static_cast<std::uint32_t>(dwords);
        const T operand = lds_has(wave, b, sizeof(T)) ? read_as<T>(wave.lds + b) : 0;
        lds_atomic<Op>(wave, a, operand, 0);
    });
    return &inst + inst.size;
}

KFDEMU_INLINE void addtid_addresses(Wave& wave, const Inst& inst, LdsAccess& a) {
    const std::uint32_t base = (wave.s[kM0] & 0xffff) + offset16(inst);
    a.mask = exec_of(wave);
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = base + l * 4;
}

const Inst* read_addtid(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a;
    addtid_addresses(wave, inst, a);
    lds_load<1>(wave, a, lanes_of(wave, inst.dst));
    return &inst + inst.size;
}

const Inst* write_addtid(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    LdsAccess a;
    addtid_addresses(wave, inst, a);
    lds_store<1>(wave, a, lanes_of(wave, inst.src[1]));
    return &inst + inst.size;
}

/// ds_append, ds_consume: one counter at M0 + offset changes by the number of active lanes; all receive the old value.
template <int Sign>
const Inst* count_lanes(Wave& wave, const Inst& inst) {
    KFDEMU_DS_PROLOGUE(wave, inst);
    const std::uint64_t mask = exec_of(wave);
    const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcountll(mask));
    const std::uint32_t at = (wave.s[kM0] & 0xffff) + offset16(inst);
    const std::uint32_t old = lds_atomic<Add<std::uint32_t>>(wave, at, Sign > 0 ? count : 0 - count, 0);
    std::uint32_t* dst = lanes_of(wave, inst.dst);
    for_each_lane(mask, [&](unsigned l) { dst[l] = old; });
    return &inst + inst.size;
}

const Inst* nop(Wave&, const Inst& inst) { return &inst + inst.size; }

const Inst* ordered_count(Wave& wave, const Inst& inst) { return wave.stop_at(Stop::Illegal, inst); }

/// The lane that lane `l` sends to or fetches from.
KFDEMU_INLINE unsigned partner(const Inst& inst, std::uint32_t address, unsigned l) {
    const unsigned lane = (address + offset16(inst)) / 4 % kLanes;
    return inst.has(kInHalves) ? (lane & 31) | (l & 32) : lane;
}

/// Forward: each active lane sends; of several senders to one lane, the highest-numbered wins.
const Inst* permute(Wave& wave, const Inst& inst) {
    const std::uint64_t mask = exec_of(wave);
    const std::uint32_t *address = lanes_of(wave, inst.src[0]), *data = lanes_of(wave, inst.src[1]);
    alignas(64) std::uint32_t received[kLanes] = {};
    for_each_lane(mask, [&](unsigned l) { received[partner(inst, address[l], l)] = data[l]; });
    put(lanes_of(wave, inst.dst), received, mask);
    return &inst + inst.size;
}

/// Backward: each active lane fetches from one of `readable`; others read as 0.
const Inst* bpermute_of(Wave& wave, const Inst& inst, std::uint64_t readable) {
    const std::uint32_t *address = lanes_of(wave, inst.src[0]), *data = lanes_of(wave, inst.src[1]);
    alignas(64) std::uint32_t received[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
        const unsigned from = partner(inst, address[l], l);
        received[l] = active(readable, from) ? data[from] : 0;
    }
    put(lanes_of(wave, inst.dst), received, exec_of(wave));
    return &inst + inst.size;
}
const Inst* bpermute(Wave& wave, const Inst& inst) { return bpermute_of(wave, inst, exec_of(wave)); }
/// DS_BPERMUTE_FI_B32: from inactive lanes, too.
const Inst* bpermute_any(Wave& wave, const Inst& inst) { return bpermute_of(wave, inst, kAllLanes); }

/// The lane that lane `l` reads under ds_swizzle_b32's pattern ("DS_SWIZZLE_B32" of the ISA manual).
KFDEMU_INLINE unsigned swizzle_source(std::uint32_t pattern, unsigned l) {
    const unsigned half = l & 0x20, in_half = l & 0x1f;
    if (pattern >= 0xe000) {  // FFT: bit reversal
        const unsigned mask = pattern & 0x1f;
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < 5; ++bit) reversed |= (in_half >> bit & 1) << (4 - bit);
        return (reversed >> __builtin_popcount(mask)) | (in_half & mask) | half;
    }
    if (pattern >= 0xc000) {  // rotate
        const unsigned mask = pattern & 0x1f, distance = pattern >> 5 & 0x1f;
        const unsigned rotated = (pattern >> 10 & 1) != 0 ? in_half - distance : in_half + distance;
        return (in_half & mask) | (rotated & ~mask & 0x1f) | half;
    }
    if ((pattern & 0x8000) != 0) return (l & ~3u) | (pattern >> (l & 3) * 2 & 3);  // quad permute
    return (((in_half & pattern) | (pattern >> 5 & 0x1f)) ^ (pattern >> 10 & 0x1f)) | half;
}

const Inst* swizzle(Wave& wave, const Inst& inst) {
    const std::uint64_t mask = exec_of(wave);
    const std::uint32_t* data = lanes_of(wave, inst.src[0]);
    alignas(64) std::uint32_t received[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
        const unsigned from = swizzle_source(offset16(inst), l);
        received[l] = active(mask, from) ? data[from] : 0;
    }
    put(lanes_of(wave, inst.dst), received, mask);
    return &inst + inst.size;
}

}  // namespace

void fill_ds(Handler* handlers) {
#define DS(op, name, on, dst, address, data0, data1, attributes, element, code, ...) \
    handlers[index(Op::name)] = __VA_ARGS__;
#include "tools/kfdemu/isa/rows/ds.inc"
#undef DS
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
