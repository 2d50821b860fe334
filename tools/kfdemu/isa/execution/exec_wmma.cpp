// Execution of WMMA: D = A * B + C of matrices of 16 rows, 16 columns and a depth of 16 (RDNA 3 ISA manual, "Wave
// Matrix Multiply Accumulate").
//
// Lane l has row l % 16 of A and column l % 16 of B, one factor after the other; lanes from 16 on repeat them, and are
// not read. Of C and D, register n of lane l is in column l % 16 and row n * (lanes / 16) + l / 16.
// EXEC is ignored. Products are added in ascending depth, each rounded once, to nearest; denormals are kept.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"

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

/// How a register of C and D holds an element. Of C, NEG negates and NEG_HI takes the magnitude.
float modified(const Inst& i, float c) {
    const float magnitude = has_bit(i.abs, 2) ? __builtin_fabsf(c) : c;
    return has_bit(i.neg, 2) ? -magnitude : magnitude;
}
struct SingleResults {
    using Sum = float;
    static u32 constant(u32 c) { return c; }
    static Sum of(const Inst& i, u32 c) { return modified(i, bits<float>(c)); }
    static Sum add(Sum sum, float a, float b) { return fused(a, b, sum); }
    static u32 to(const Inst&, u32, Sum sum) { return bits<u32>(sum); }
};
struct IntegerResults {
    using Sum = i64;
    static u32 constant(u32 c) { return c; }
    static Sum of(const Inst&, u32 c) { return static_cast<i32>(c); }
    static Sum add(Sum sum, i32 a, i32 b) { return sum + i64{a} * b; }
    static u32 to(const Inst& i, u32, Sum sum) { return static_cast<u32>(saturated_i32(sum, i.clamp)); }
};
/// OP_SEL[2] is the half of C and D; the other half of D is kept.
template <float (*number)(u32, unsigned), u32 (*code)(float)>
struct NarrowResults {
    using Sum = float;
    static bool upper(const Inst& i) { return has_bit(i.op_sel, 2); }
    static u32 constant(u32 c) { return (c & 0xffff) * 0x10001; }  // has one half, for both
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
    return i.src[2] >= kVgpr0 ? lanes_of(w, i.src[2])[n * kLanes + lane] : Results::constant(w.s[i.src[2]]);
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

}  // namespace

void fill_wmma(Handler* handlers) {
#define WMMA(op, name, on, d, ab, attributes, of, ...) handlers[index(Op::name)] = &__VA_ARGS__;
#include "tools/kfdemu/isa/rows/wmma.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
