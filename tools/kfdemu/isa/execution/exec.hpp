// Shared by the executors of all formats: operand types, and scalar reads and writes. Compiled once for each x86 level
// and number of lanes, in the namespace of the two.
//
// Everything here is internal to its translation unit and forced inline, see KFDEMU_INLINE. Thread safety: pure
// functions of their wave.
#pragma once

#include "tools/kfdemu/isa/execution/simple_handlers.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

#if !defined(KFDEMU_EXECUTOR) || !defined(KFDEMU_WIDTH)
#error "compiled by level and width only: -DKFDEMU_EXECUTOR=v2_64 -DKFDEMU_WIDTH=64"
#endif

#if defined(__clang__)
#define KFDEMU_LANES(count) \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned lane = 0; lane < (count); ++lane)
#define KFDEMU_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define KFDEMU_LANES(count) _Pragma("GCC ivdep") for (unsigned lane = 0; lane < (count); ++lane)
#define KFDEMU_UNROLLED _Pragma("GCC unroll 8")
#endif
#define KFDEMU_LANE_LOOP KFDEMU_LANES(kLanes)
#define KFDEMU_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// Of the waves that this executor runs.
inline constexpr unsigned kLanes = KFDEMU_WIDTH;
inline constexpr u64 kAllLanes = ~u64{0} >> (kMostLanes - kLanes);

// Wave's members of these names, for this width.
KFDEMU_INLINE u64 mask_of(const Wave& w, Operand index) {
    if constexpr (kLanes == 64)
        return w.s64(index);
    else
        return w.s[index];
}
KFDEMU_INLINE u64 exec_of(const Wave& w) { return mask_of(w, kExec); }
KFDEMU_INLINE u32* lanes_of(Wave& w, Operand operand) {
    return operand < kAcc0 ? w.v + (operand - kVgpr0) * kLanes : w.acc + (operand - kAcc0) * kLanes;
}
KFDEMU_INLINE void set_mask(Wave& w, Operand index, u64 mask) {
    if constexpr (kLanes == 64)
        w.set_s64(index, mask);
    else
        w.s[index] = static_cast<u32>(mask);
}

template <class To, class From>
KFDEMU_INLINE To bits(From value) {
    return __builtin_bit_cast(To, value);
}

/// The MODE and instruction state that a lane's meaning may depend on; the same for all lanes.
struct Context {
    bool clamp;
    bool ieee;
    bool dx10;       ///< CLAMP turns NaN into zero
    bool flush_f32;  ///< 32-bit denormals are treated as zero, in sources or results
    bool flush_f64;  ///< 64-bit denormals likewise
    bool flush_half_in, flush_half_out;
    u32 round_f32;       ///< 0 nearest even, 1 up, 2 down, 3 towards zero
    u32 round_f64;       ///< likewise, also for 16 bits; plus 4 (FP16_OVFL): 16-bit results saturate instead of
                         ///< inf
    bool flush_halves;   ///< denormal 16-bit factors of dot products are treated as zero
    u32 byte;            ///< of rows that are kInserts
    u32 source_byte;     ///< of rows that are kExtracts
    u32 table;           ///< of rows that are kTruthTable
    u32 signed_factors;  ///< of rows that are kSigned, a bit for each source
    bool number_wins;    ///< of V_MIN and V_MAX: Traits::number_wins
};

namespace quick {
/// The same state for the operations of namespace quick; the type selects those overloads.
struct Context : KFDEMU_EXECUTOR::Context {};
}  // namespace quick

KFDEMU_INLINE Context context(const Wave& w, const Inst& i) {
    return {i.clamp,
            (w.mode & 0x200) != 0,
            (w.mode & 0x100) != 0,
            (w.mode & 0x30) != 0x30,
            (w.mode & 0xc0) != 0xc0,
            (w.mode & 0x40) == 0,
            (w.mode & 0x80) == 0,
            w.mode & 3,
            ((w.mode >> 2) & 3) | ((w.mode >> 21) & 4),
            (i.flags & kFlushHalves) != 0,
            u32{i.op_sel} >> 2 & 3,
            u32{i.op_sel} & 3,
            i.literal,
            i.neg,
            w.number_wins};
}

// Both operands are always evaluated: a short-circuit is a branch, which prevents vectorisation of a lane loop.
KFDEMU_INLINE bool both(bool a, bool b) { return a & b; }
KFDEMU_INLINE bool either(bool a, bool b) { return a | b; }
KFDEMU_INLINE bool either(bool a, bool b, bool c) { return a | b | c; }

// 16-bit floats. Lanes compute with them as float, whose 24 bits make +, -, * exact enough that double rounding is
// harmless; only the fused operations need double.

KFDEMU_INLINE float float_of_half(u32 half) {
    const u32 magnitude = half & 0x7fff;
    const u32 sign = (half & 0x8000) << 16;
    const u32 normal = (magnitude << 13) + 0x38000000;
    const u32 special = (magnitude << 13) | 0x7f800000;
    const u32 denormal = bits<u32>(static_cast<float>(static_cast<i32>(magnitude)) * 0x1p-24f);
    const u32 value = magnitude >= 0x7c00 ? special : magnitude < 0x400 ? denormal : normal;
    return bits<float>(value | sign);
}

KFDEMU_INLINE u32 half_of_double(double value, u32 mode) {
    const u32 round = mode & 3;
    const u64 raw = bits<u64>(value);
    const u32 sign = static_cast<u32>(raw >> 48) & 0x8000;
    const u64 magnitude = raw & 0x7fffffffffffffff;
    const i32 exponent = static_cast<i32>(magnitude >> 52) - 1023;
    const u64 mantissa = (magnitude & 0xfffffffffffff) | (exponent > -1023 ? 0x10000000000000 : 0);
    const bool is_normal = exponent >= -14;
    const i32 wanted = is_normal ? 42 : 28 - exponent;
    const u32 shift = static_cast<u32>(wanted > 63 ? 63 : wanted);
    const u64 kept = mantissa >> shift;
    const u64 rest = mantissa - (kept << shift);
    const u64 tie = 1ull << (shift - 1);
    const u32 finite = static_cast<u32>(kept) + (is_normal ? static_cast<u32>(exponent + 14) << 10 : 0);
    const u32 outwards = sign ? 2 : 1;  // the directed rounding away from zero
    const bool nearest_up = either(rest > tie, both(rest == tie, (kept & 1) != 0));
    const bool away = round == 0 ? nearest_up : both(round == outwards, rest != 0);
    const u32 rounded = finite + away;
    const bool to_infinity = both((mode & 4) == 0, either(round == 0, round == outwards));
    const u32 overflow = to_infinity ? 0x7c00 : 0x7bff;
    const u32 nan = 0x7e00 | (static_cast<u32>(magnitude >> 42) & 0x3ff);
    const u32 bounded = either(exponent > 15, rounded >= 0x7c00) ? overflow : rounded;
    const u32 result = magnitude > 0x7ff0000000000000 ? nan : magnitude == 0x7ff0000000000000 ? 0x7c00 : bounded;
    return result | sign;
}

/// The inverse of float_of_half().
KFDEMU_INLINE u32 half_bits(float value) {
    const u32 raw = bits<u32>(value);
    const u32 special = ((raw >> 16) & 0x8000) | 0x7c00 | ((raw >> 13) & 0x3ff);
    return (raw & 0x7f800000) == 0x7f800000 ? special : half_of_double(static_cast<double>(value), 0);
}

// The condition is the same for all lanes. It is turned into a mask, as the compiler would emit a branch.
KFDEMU_INLINE float flush(float value, bool yes) {
    const u32 raw = bits<u32>(value);
    const u32 denormal = (raw & 0x7f800000) == 0 ? 0x7fffffffu : 0;
    return bits<float>(raw & ~(denormal & (0u - u32{yes})));
}
KFDEMU_INLINE double flush(double value, bool yes) {
    const u64 raw = bits<u64>(value);
    const u64 denormal = (raw & 0x7ff0000000000000) == 0 ? 0x7fffffffffffffff : 0;
    return bits<double>(raw & ~(denormal & (0ull - u64{yes})));
}

/// The class of a type, for modifiers and rounding.
enum class Kind : u8 { Int32, Int16, Int64, Float32, Float16, Float64, Packed, PackedFloat };
constexpr bool is_packed(Kind kind) { return kind == Kind::Packed || kind == Kind::PackedFloat; }

// Operand types, named as in the rows. load and store access one lane; the dwords of a lane are kLanes apart.

template <class Value, Kind kind_>
struct Word {
    using V = Value;
    static constexpr unsigned dwords = 1;
    static constexpr Kind kind = kind_;
    static KFDEMU_INLINE V load(const u32* p, unsigned lane, const Context&) { return bits<V>(p[lane]); }
    static KFDEMU_INLINE void store(u32* p, unsigned lane, V value, const Context&) { p[lane] = bits<u32>(value); }
    static KFDEMU_INLINE V of_scalar(u64 value) { return bits<V>(static_cast<u32>(value)); }
    static KFDEMU_INLINE u64 to_scalar(V value) { return bits<u32>(value); }
};
template <class Value, Kind kind_>
struct Pair {
    using V = Value;
    static constexpr unsigned dwords = 2;
    static constexpr Kind kind = kind_;
    static KFDEMU_INLINE V load(const u32* p, unsigned lane, const Context&) {
        return bits<V>(p[lane] | static_cast<u64>(p[lane + kLanes]) << 32);
    }
    static KFDEMU_INLINE void store(u32* p, unsigned lane, V value, const Context&) {
        p[lane] = static_cast<u32>(bits<u64>(value));
        p[lane + kLanes] = static_cast<u32>(bits<u64>(value) >> 32);
    }
    static KFDEMU_INLINE V of_scalar(u64 value) { return bits<V>(value); }
    static KFDEMU_INLINE u64 to_scalar(V value) { return bits<u64>(value); }
};
template <class Value>
struct HalfInt {
    using V = Value;
    static constexpr unsigned dwords = 1;
    static constexpr Kind kind = Kind::Int16;
    static KFDEMU_INLINE V load(const u32* p, unsigned lane, const Context&) { return static_cast<V>(p[lane]); }
    static KFDEMU_INLINE void store(u32* p, unsigned lane, V value, const Context&) {
        p[lane] = static_cast<u16>(value);
    }
};
struct HalfFloat {
    using V = float;
    static constexpr unsigned dwords = 1;
    static constexpr Kind kind = Kind::Float16;
    static KFDEMU_INLINE u32 flushed(u32 half, bool yes) {
        const u32 denormal = (half & 0x7c00) == 0 ? 0x7fffu : 0;
        return half & ~(denormal & (0u - u32{yes}));
    }
    static KFDEMU_INLINE V load(const u32* p, unsigned lane, const Context& x) { return of(p[lane], x); }
    static KFDEMU_INLINE void store(u32* p, unsigned lane, V value, const Context& x) { p[lane] = to(value, x); }
    /// A source in the low half; a result.
    static KFDEMU_INLINE V of(u32 half, const Context& x) {
        return float_of_half(flushed(half & 0xffff, x.flush_half_in));
    }
    static KFDEMU_INLINE u32 to(V value, const Context& x) {
        return flushed(half_of_double(static_cast<double>(value), x.round_f64), x.flush_half_out);
    }
};
/// The bits of a 16-bit float, denormals included: the input of V_CMP_CLASS.
struct HalfBits : HalfInt<u16> {
    static constexpr Kind kind = Kind::Float16;
};
struct Quad {
    struct V {
        u32 dword[4];
    };
    static constexpr unsigned dwords = 4;
    static constexpr Kind kind = Kind::Int32;
    static KFDEMU_INLINE V load(const u32* p, unsigned lane, const Context&) {
        return {{p[lane], p[lane + kLanes], p[lane + 2 * kLanes], p[lane + 3 * kLanes]}};
    }
    static KFDEMU_INLINE void store(u32* p, unsigned lane, V value, const Context&) {
        for (unsigned n = 0; n < 4; ++n) p[lane + kLanes * n] = value.dword[n];
    }
};
struct Nothing {
    using V = u32;
    static constexpr unsigned dwords = 0;
    static constexpr Kind kind = Kind::Int32;
    static KFDEMU_INLINE V load(const u32*, unsigned, const Context&) { return 0; }
    static KFDEMU_INLINE void store(u32*, unsigned, V, const Context&) {}
    static KFDEMU_INLINE V of_scalar(u64) { return 0; }
    static KFDEMU_INLINE u64 to_scalar(V) { return 0; }
};

using T_none = Nothing;
using T_b32 = Word<u32, Kind::Int32>;
using T_f8 = T_b32;
using T_u32 = Word<u32, Kind::Int32>;
using T_i32 = Word<i32, Kind::Int32>;
using T_f32 = Word<float, Kind::Float32>;
using T_b64 = Pair<u64, Kind::Int64>;
using T_u64 = Pair<u64, Kind::Int64>;
using T_i64 = Pair<i64, Kind::Int64>;
using T_f64 = Pair<double, Kind::Float64>;
using T_b16 = HalfInt<u16>;
using T_u16 = HalfInt<u16>;
using T_i16 = HalfInt<i16>;
using T_f16 = HalfFloat;
using T_bf16 = HalfBits;
using T_pk16 = Word<u32, Kind::Packed>;
using T_pkf16 = Word<u32, Kind::PackedFloat>;
using T_pkbf16 = T_pkf16;
using T_b128 = Quad;
using T_simm = Nothing;
using T_uimm = Nothing;
using T_hex = Nothing;
using T_label = Nothing;
using T_gpr_index = Nothing;
using T_message = Nothing;

// Scalars.

/// Refreshes the slots of Wave::s that instructions with kScalarSetup read.
KFDEMU_INLINE void scalar_setup(Wave& w, const Inst& i) {
    if (!KFDEMU_UNLIKELY(i.flags & kScalarSetup)) return;
    w.s[kVccz] = mask_of(w, kVcc) == 0;
    w.s[kExecz] = exec_of(w) == 0;
    w.s[kScc253] = w.scc;
    w.s[kLiteral] = i.literal;
}

/// How a literal's 32 bits become a 64-bit operand: as the low half of an unsigned or signed number, or as the high
/// half of a float.
enum class Literal : u8 { Unsigned, Signed, Float };
template <class T>
inline constexpr Literal literal_of = T::kind == Kind::Float64                           ? Literal::Float
                                      : static_cast<typename T::V>(-1) < typename T::V{} ? Literal::Signed
                                                                                         : Literal::Unsigned;
template <>
inline constexpr Literal literal_of<Quad> = Literal::Unsigned;

/// The value of a 64-bit operand. Inline integers are sign-extended; a literal is meant for signed operands only, and
/// is zero-extended for others (LLVM's SIInstrInfo::isOperandLegal; S_MOV_B64_IMM_PSEUDO relies on it). Inline floats
/// are 64-bit floats ("Vega" ISA manual, "Scalar ALU operands").
[[gnu::noinline, maybe_unused]] u64 wide_constant(const Wave& w, Operand operand, Literal literal) {
    constexpr double floats[] = {0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532};
    if (operand >= kFloats && operand < kFloats + 9) return bits<u64>(floats[operand - kFloats]);
    if (operand == kSharedBase) return w.shared_base;
    if (operand == kSharedLimit) return w.shared_base | 0xffffffff;
    if (operand == kPrivateBase) return w.private_base;
    if (operand == kPrivateLimit) return w.private_base | 0xffffffff;
    if (operand == kLiteral && literal != Literal::Signed)
        return static_cast<u64>(w.s[kLiteral]) << (literal == Literal::Float ? 32 : 0);
    return static_cast<u64>(i64{static_cast<i32>(w.s[operand])});
}

KFDEMU_INLINE u64 read64(const Wave& w, Operand operand, Literal literal) {
    return operand < kConstants ? w.s64(operand) : wide_constant(w, operand, literal);
}
/// A mask of lanes that is a source, which may be a constant.
KFDEMU_INLINE u64 read_mask(const Wave& w, Operand operand) {
    if constexpr (kLanes == 64)
        return read64(w, operand, Literal::Unsigned);
    else
        return w.s[operand];
}

template <class T>
KFDEMU_INLINE typename T::V read(const Wave& w, Operand operand) {
    if constexpr (T::dwords == 0)
        return 0;
    else if constexpr (T::dwords == 1)
        return T::of_scalar(w.s[operand]);
    else
        return T::of_scalar(read64(w, operand, literal_of<T>));
}

template <class T>
KFDEMU_INLINE void write(Wave& w, Operand operand, typename T::V value) {
    if constexpr (T::dwords == 1) w.s[operand] = static_cast<u32>(T::to_scalar(value));
    if constexpr (T::dwords == 2) w.set_s64(operand, T::to_scalar(value));
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
