// SMEM instructions ("Vega" ISA manual, "Scalar Memory Operations"): loads and stores of SGPRs, atomics, clocks.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/simple_handlers.hpp"
#include "tools/kfdemu/isa/memory/atomics.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The memory that the instruction addresses.
struct Place {
    std::uint64_t va;
    std::uint64_t bytes_left;  ///< to the end of the buffer
};

KFDEMU_INLINE std::uint64_t scalar_offset(const Wave& wave, const Inst& inst) {
    std::uint64_t offset = inst.has(kImm) ? static_cast<std::uint64_t>(std::int64_t{inst.offset}) : 0;
    if (inst.src[1] != kNoOperand) offset += wave.s[inst.src[1]];
    return offset;
}

// Addresses are dword-aligned: the two low bits are ignored. Those of less than a dword are multiples of its size.
struct Plain {
    KFDEMU_INLINE static Place place(const Wave& wave, const Inst& inst, unsigned alignment = 4) {
        return {(wave.s64(inst.src[0]) + scalar_offset(wave, inst)) & ~std::uint64_t{alignment - 1}, ~std::uint64_t{0}};
    }
};
/// S_SCRATCH: an SGPR offset is in units of 64 bytes.
struct Scratch {
    KFDEMU_INLINE static Place place(const Wave& wave, const Inst& inst) {
        std::uint64_t va = wave.s64(inst.src[0]);
        if (inst.has(kImm)) va += static_cast<std::uint64_t>(std::int64_t{inst.offset});
        if (inst.src[1] != kNoOperand) va += std::uint64_t{wave.s[inst.src[1]]} * 64;
        return {va & ~std::uint64_t{3}, ~std::uint64_t{0}};
    }
};
struct Buffer {
    KFDEMU_INLINE static Place place(const Wave& wave, const Inst& inst, unsigned alignment = 4) {
        const std::uint32_t* word = wave.s + inst.src[0];
        const std::uint64_t base = word[0] | std::uint64_t{word[1] & 0xffff} << 32;
        const std::uint32_t stride = word[1] >> 16 & 0x3fff;
        const std::uint64_t size = stride == 0 ? word[2] : std::uint64_t{word[2]} * stride;
        const std::uint64_t offset = scalar_offset(wave, inst) & ~std::uint64_t{alignment - 1};
        return {(base & ~std::uint64_t{3}) + offset, offset < size ? size - offset : 0};
    }
};

KFDEMU_INLINE const Inst* scalar_fault(Wave& wave, const Inst& inst, std::uint64_t va, std::uint32_t access) {
    return wave.fault_at(Stop::MemoryFault, inst, {va, 0, access});
}

template <unsigned N, class Where>
const Inst* load(Wave& wave, const Inst& inst) {
    const Place place = Where::place(wave, inst);
    const unsigned bytes = place.bytes_left >= N * 4 ? N * 4 : static_cast<unsigned>(place.bytes_left) & ~3u;
    std::uint32_t values[N] = {};
    if (bytes == N * 4) {
        if (const Tlb::Entry* entry = translate(wave, place.va, N * 4, kRead)) {
            __builtin_memcpy(values, entry->at(place.va), N * 4);
            __builtin_memcpy(wave.s + inst.dst, values, N * 4);
            return &inst + inst.size;
        }
    }
    std::uint64_t bad = 0;
    if (bytes != 0 && !read_lane(wave, place.va, 4, values, bytes, bad)) return scalar_fault(wave, inst, bad, kRead);
    __builtin_memcpy(wave.s + inst.dst, values, N * 4);
    return &inst + inst.size;
}

/// One T, extended to 32 bits as its sign says; outside a buffer, 0.
template <class T, class Where>
const Inst* load_small(Wave& wave, const Inst& inst) {
    const Place place = Where::place(wave, inst, sizeof(T));
    T value = 0;
    std::uint64_t bad = 0;
    if (place.bytes_left >= sizeof(T) && !read_lane(wave, place.va, 4, &value, sizeof value, bad))
        return scalar_fault(wave, inst, bad, kRead);
    wave.s[inst.dst] = static_cast<std::uint32_t>(value);
    return &inst + inst.size;
}

template <unsigned N, class Where>
const Inst* store(Wave& wave, const Inst& inst) {
    const Place place = Where::place(wave, inst);
    const unsigned bytes = place.bytes_left >= N * 4 ? N * 4 : static_cast<unsigned>(place.bytes_left) & ~3u;
    std::uint64_t bad = 0;
    if (bytes != 0 && !write_lane(wave, place.va, 4, wave.s + inst.dst, bytes, bad))
        return scalar_fault(wave, inst, bad, kWrite);
    return &inst + inst.size;
}

/// SDATA holds the operand (for cmpswap the new value, then the expected one) and receives the old value if GLC.
template <class Op, class Where>
const Inst* atomic(Wave& wave, const Inst& inst) {
    using T = typename Op::T;
    const Place place = Where::place(wave, inst);
    T operand[2] = {};
    __builtin_memcpy(operand, wave.s + inst.dst, __is_same(Op, CompareSwap<T>) ? 2 * sizeof(T) : sizeof(T));
    T old = 0;
    if (place.bytes_left >= sizeof(T)) {
        if ((place.va & (sizeof(T) - 1)) != 0)
            return wave.fault_at(Stop::Misaligned, inst, {place.va, 0, kRead | kWrite});
        const Tlb::Entry* entry = translate(wave, place.va, sizeof(T), kRead | kWrite);
        if (entry == nullptr) return scalar_fault(wave, inst, place.va, kRead | kWrite);
        old = memory_atomic<Op>(entry->at(place.va), operand[0], operand[1]);
    }
    if (inst.has(kGlc)) __builtin_memcpy(wave.s + inst.dst, &old, sizeof old);
    return &inst + inst.size;
}

const Inst* shader_clock(Wave& wave, const Inst& inst) {
    wave.set_s64(inst.dst, shader_clock_ticks());
    return &inst + inst.size;
}
const Inst* reference_clock(Wave& wave, const Inst& inst) {
    wave.set_s64(inst.dst, reference_clock_ticks());
    return &inst + inst.size;
}

}  // namespace

void fill_smem(Handler* handlers) {
#define SMEM(op, name, on, data, base, attributes, element, code, ...) handlers[index(Op::name)] = __VA_ARGS__;
#include "tools/kfdemu/isa/rows/smem.inc"
#undef SMEM
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
