// Execution of WMMA and SWMMAC: D = A * B + C of matrices of 16 rows and 16 columns (RDNA 3 and RDNA 4 ISA manuals,
// "Wave Matrix Multiply Accumulate").
//
// On GFX11, whose depth is 16, lane l has row l % 16 of A and column l % 16 of B, one factor after the other; lanes
// from 16 on repeat them, and are not read. Of C and D, register n of lane l is in column l % 16 and row n * (lanes /
// 16) + l / 16. On GFX12, each group of 16 lanes has elements of its own: Spread (AMD's matrix instruction calculator).
// EXEC is ignored. Products are added in ascending depth, each rounded once, to nearest; denormals are kept.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"
#include "tools/kfdemu/isa/execution/small_float_math.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

constexpr unsigned kSide = 16, kRowsApart = kLanes / kSide, kTileRegisters = 256 / kLanes;

bool has_bit(unsigned bits, unsigned n) { return (bits >> n & 1) != 0; }

/// Of 16 bits, two a register. NEG and NEG_HI negate the lower and the upper ones.
template <float (*number)(u32 register_bits, unsigned half)>
struct Pairs {
    using V = float;
    static V of(const Inst& i, unsigned source, const u32* registers, unsigned k) {
        const float value = number(registers[k / 2 * kLanes], k % 2);
        return has_bit(k % 2 == 0 ? i.neg : i.abs, source) ? -value : value;
    }
};
float half_number(u32 v, unsigned n) { return half_at(v, n); }
float brain_number(u32 v, unsigned n) { return brain_at(v, n); }
using HalfFactors = Pairs<half_number>;
using BrainFactors = Pairs<brain_number>;

/// NEG says which source is signed.
template <unsigned width>
struct IntegerFactors {
    using V = i32;
    static V of(const Inst& i, unsigned source, const u32* registers, unsigned k) {
        constexpr unsigned count = 32 / width;
        const u32 up = registers[k / count * kLanes] << (32 - width * (k % count + 1));
        return has_bit(i.neg, source) ? static_cast<i32>(up) >> (32 - width) : static_cast<i32>(up >> (32 - width));
    }
};

/// Of 8 bits, four a register, without signs of their own.
template <class Number>
struct SmallFactors {
    using V = float;
    static V of(const Inst&, unsigned, const u32* registers, unsigned k) {
        return Number::of(registers[k / 4 * kLanes] >> 8 * (k % 4));
    }
};
using Fp8Factors = SmallFactors<OcpFp8Float>;
using Bf8Factors = SmallFactors<OcpBf8Float>;

/// How a register of C and D holds an element. Of C, NEG negates and NEG_HI takes the magnitude.
float modified(const Inst& i, float c) {
    const float magnitude = has_bit(i.abs, 2) ? __builtin_fabsf(c) : c;
    return has_bit(i.neg, 2) ? -magnitude : magnitude;
}
struct SingleResults {
    using Sum = float;
    static Sum of(const Inst& i, u32 c) { return modified(i, bits<float>(c)); }
    static Sum add(Sum sum, float a, float b) { return fused(a, b, sum); }
    static u32 to(const Inst&, u32, Sum sum) { return bits<u32>(sum); }
};
struct IntegerResults {
    using Sum = i64;
    static Sum of(const Inst&, u32 c) { return static_cast<i32>(c); }
    static Sum add(Sum sum, i32 a, i32 b) { return sum + i64{a} * b; }
    static u32 to(const Inst& i, u32, Sum sum) { return static_cast<u32>(saturated_i32(sum, i.clamp)); }
};
/// OP_SEL[2] is the half of C and D; the other half of D is kept.
template <float (*number)(u32, unsigned), u32 (*code)(float)>
struct NarrowResults {
    using Sum = float;
    static bool upper(const Inst& i) { return has_bit(i.op_sel, 2); }
    static Sum of(const Inst& i, u32 c) { return modified(i, number(c, upper(i))); }
    static Sum add(Sum sum, float a, float b) { return fused(a, b, sum); }
    static u32 to(const Inst& i, u32 old, Sum sum) {
        return upper(i) ? (old & 0xffff) | code(sum) << 16 : (old & 0xffff0000) | code(sum);
    }
};
u32 half_code(float v) { return half_of_double(static_cast<double>(v), 0); }
u32 brain_code(float v) { return brain_of(v); }
using HalfResults = NarrowResults<half_number, half_code>;
using BrainResults = NarrowResults<brain_number, brain_code>;

/// Two in a register.
template <float (*number)(u32, unsigned), u32 (*code)(float)>
struct PackedResults {
    using Sum = float;
    static Sum of(const Inst& i, u32 c, unsigned half) { return modified(i, number(c, half)); }
    static Sum add(Sum sum, float a, float b) { return fused(a, b, sum); }
    static u32 to(Sum sum) { return code(sum); }
};
using PackedHalves = PackedResults<half_number, half_code>;
using PackedBrains = PackedResults<brain_number, brain_code>;

template <class Results>
inline constexpr bool kIsNarrow = false;
template <float (*number)(u32, unsigned), u32 (*code)(float)>
inline constexpr bool kIsNarrow<NarrowResults<number, code>> = true;
template <class Results>
inline constexpr bool kIsPacked = false;
template <float (*number)(u32, unsigned), u32 (*code)(float)>
inline constexpr bool kIsPacked<PackedResults<number, code>> = true;
template <float (*number)(u32, unsigned), u32 (*code)(float)>
inline constexpr bool kIsNarrow<PackedResults<number, code>> = true;

/// A row of A or a column of B in each of 16 lanes.
template <class Factors>
struct Side {
    typename Factors::V factor[kSide][kSide];

    void read(Wave& w, const Inst& i, unsigned source) {
        const u32* const registers = lanes_of(w, i.src[source]);
        for (unsigned lane = 0; lane < kSide; ++lane)
            for (unsigned k = 0; k < kSide; ++k) factor[lane][k] = Factors::of(i, source, registers + lane, k);
    }
};

/// C, whose constant is the same in all elements.
template <class Results>
u32 addend(Wave& w, const Inst& i, unsigned n, unsigned lane) {
    if (i.src[2] >= kVgpr0) return lanes_of(w, i.src[2])[n * kLanes + lane];
    const u32 value = w.s[i.src[2]];
    return kIsNarrow<Results> ? (value & 0xffff) * 0x10001 : value;
}

template <class Factors, class Results>
const Inst* multiply_tiles(Wave& w, const Inst& i) {
    constexpr u32 nearest = 0x1f80;  // MXCSR: all exceptions masked
    scalar_setup(w, i);
    use_mxcsr(w, nearest);
    Side<Factors> a, b;
    a.read(w, i, 0);
    b.read(w, i, 1);
    Room<kTileRegisters> room;
    u32* const d = lanes_of(w, i.dst);
    for (unsigned n = 0; n < kTileRegisters; ++n) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const auto *row = a.factor[n * kRowsApart + lane / kSide], *column = b.factor[lane % kSide];
            auto sum = Results::of(i, addend<Results>(w, i, n, lane));
            for (unsigned k = 0; k < kSide; ++k) sum = Results::add(sum, row[k], column[k]);
            room.lane[n * kLanes + lane] = Results::to(i, d[n * kLanes + lane], sum);
        }
    }
    for (unsigned n = 0; n < kTileRegisters; ++n) copy_lanes(d + n * kLanes, room.lane + n * kLanes);
    return next_of(i);
}

// GFX12.

/// Where element k of a row of A, of a column of B, or row k of a column of C and D is: in which group of 16 lanes, and
/// at which place among the elements of its lane.
struct Spread {
    unsigned group, at;
};
/// Of `count` in `groups`: adjacent ones are in one lane; of four groups, the third follows the first.
constexpr Spread spread(unsigned k, unsigned count, unsigned groups) {
    const unsigned apart = count / groups, part = k / apart;
    return {groups == 4 ? part % 2 * 2 + part / 2 : part, k % apart};
}
/// Of 16-bit factors: so many adjacent ones are in one lane, the next in that of the next group.
constexpr Spread dealt(unsigned k, unsigned adjacent, unsigned groups) {
    const unsigned part = k / adjacent;
    return {part % groups, part / groups * adjacent + k % adjacent};
}

constexpr unsigned kGroups = kLanes / kSide;
/// 32 lanes are enough for a matrix of nibbles that has 32 dwords.
constexpr unsigned groups_of(unsigned elements, unsigned width) { return elements * width == 32 * 32 ? 2 : kGroups; }

/// A or B, whose rows or columns have `depth` elements of `width` bits. `adjacent`: of 16 bits.
template <class Factors, unsigned depth, unsigned width, unsigned adjacent>
struct SpreadSide {
    typename Factors::V factor[kSide][depth];

    void read(Wave& w, const Inst& i, unsigned source) {
        const u32* const registers = lanes_of(w, i.src[source]);
        constexpr unsigned groups = groups_of(depth * kSide, width);
        for (unsigned k = 0; k < depth; ++k) {
            const Spread at = width == 16 ? dealt(k, adjacent, groups) : spread(k, depth, groups);
            for (unsigned line = 0; line < kSide; ++line)
                factor[line][k] = Factors::of(i, source, registers + at.group * kSide + line, at.at);
        }
    }
};

/// D from sum(row, column, C), for each element.
template <class Results, class Sum>
void for_each_element(Wave& w, const Inst& i, Operand c, Sum&& sum) {
    constexpr unsigned count = kIsPacked<Results> ? kTileRegisters / 2 : kTileRegisters;
    u32* const d = lanes_of(w, i.dst);
    Room<count> room;
    for (u32& word : room.lane) word = 0;
    Inst with_c = i;
    with_c.src[2] = c;
    for (unsigned row = 0; row < kSide; ++row) {
        const Spread at = spread(row, kSide, kGroups);
        for (unsigned column = 0; column < kSide; ++column) {
            const unsigned lane = at.group * kSide + column;
            if constexpr (kIsPacked<Results>) {
                const unsigned n = at.at / 2, half = at.at % 2;
                const auto from = Results::of(i, addend<Results>(w, with_c, n, lane), half);
                room.lane[n * kLanes + lane] |= Results::to(sum(row, column, from)) << 16 * half;
            } else {
                const auto from = Results::of(i, addend<Results>(w, with_c, at.at, lane));
                room.lane[at.at * kLanes + lane] = Results::to(i, 0, sum(row, column, from));
            }
        }
    }
    for (unsigned n = 0; n < count; ++n) copy_lanes(d + n * kLanes, room.lane + n * kLanes);
}

constexpr u32 kNearestWithDenormals = 0x1f80;  // MXCSR: all exceptions masked

template <class FactorsA, class FactorsB, class Results, unsigned depth, unsigned width>
const Inst* multiply_spread(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    use_mxcsr(w, kNearestWithDenormals);
    SpreadSide<FactorsA, depth, width, 4> a;
    SpreadSide<FactorsB, depth, width, 4> b;
    a.read(w, i, 0);
    b.read(w, i, 1);
    for_each_element<Results>(w, i, i.src[2], [&](unsigned row, unsigned column, typename Results::Sum sum) {
        for (unsigned k = 0; k < depth; ++k) sum = Results::add(sum, a.factor[row][k], b.factor[column][k]);
        return sum;
    });
    return next_of(i);
}

/// Of every four elements of a row of A, which two are given: their places in 0..3.
template <unsigned depth>
struct SparseIndices {
    u8 place[kSide][depth / 2];

    void read(Wave& w, const Inst& i, unsigned width) {
        const unsigned groups = groups_of(depth / 2 * kSide, width), in_lane = depth / groups;
        const u32* const registers = lanes_of(w, i.src[2]);
        for (unsigned k = 0; k < depth; k += 4) {
            const Spread at = width == 16 ? dealt(k, 8, groups) : spread(k, depth, groups);
            for (unsigned row = 0; row < kSide; ++row) {
                const u32 part = registers[at.group * kSide + row] >> i.op_sel * in_lane % 32;
                for (unsigned n = 0; n < 2; ++n) place[row][k / 2 + n] = static_cast<u8>(part >> (at.at + 2 * n) & 3);
            }
        }
    }
};

/// SWMMAC: D is C, too.
template <class FactorsA, class FactorsB, class Results, unsigned depth, unsigned width>
const Inst* multiply_sparse(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    use_mxcsr(w, kNearestWithDenormals);
    SpreadSide<FactorsA, depth / 2, width, 4> a;
    SpreadSide<FactorsB, depth, width, 8> b;
    SparseIndices<depth> indices;
    a.read(w, i, 0);
    b.read(w, i, 1);
    indices.read(w, i, width);
    for_each_element<Results>(w, i, i.dst, [&](unsigned row, unsigned column, typename Results::Sum sum) {
        for (unsigned n = 0; n < depth / 2; ++n)
            sum = Results::add(sum, a.factor[row][n], b.factor[column][n / 2 * 4 + indices.place[row][n]]);
        return sum;
    });
    return next_of(i);
}

}  // namespace

void fill_wmma(Handler* handlers) {
#define WMMA(op, name, on, d, ab, attributes, of, ...) handlers[index(Op::name)] = &__VA_ARGS__;
#include "tools/kfdemu/isa/rows/wmma.inc"
#define TILES(op, name, on, d, a, b, c, depth, attributes, of, ...) handlers[index(Op::name)] = &__VA_ARGS__;
#include "tools/kfdemu/isa/rows/tiles.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
