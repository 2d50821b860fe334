// Execution of VOP3P: packed halves, mixed precision, accumulator moves.
#include "tools/kfdemu/isa/execution/dot_math.hpp"
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"
#include "tools/kfdemu/isa/execution/small_float_math.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The half (or dword) of source n that one half of the result reads.
KFDEMU_INLINE bool chosen(const Inst& i, unsigned n, bool high) { return ((high ? i.op_sel_hi : i.op_sel) >> n) & 1; }
KFDEMU_INLINE bool negated(const Inst& i, unsigned n, bool high) { return ((high ? i.abs : i.neg) >> n) & 1; }

/// V_MFMA_LD_SCALE_B32: of each lane's dword the byte that OP_SEL_HI and OP_SEL number, whatever EXEC is.
const Inst* load_scales(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    Room<1> room;
    for (unsigned n = 0; n < 2; ++n) {
        const u32* const lanes = source<T_b32>(w, i, n, room.lane);
        const unsigned byte = i.scale_byte(n);
        for (unsigned lane = 0; lane < kLanes; ++lane) w.scales[n][lane] = static_cast<u8>(lanes[lane] >> 8 * byte);
    }
    w.scaled = true;
    return next_of(i);
}

/// One 16-bit element, converted to the type that the meaning computes with.
template <class E>
struct Element {
    using V = typename E::V;
    static KFDEMU_INLINE V of(u32 half, bool, const Context&) { return static_cast<V>(half); }
    static KFDEMU_INLINE u32 to(V value, const Context&) { return static_cast<u16>(value); }
};
template <>
struct Element<T_f16> {
    using V = float;
    static KFDEMU_INLINE V of(u32 half, bool negative, const Context& x) {
        return HalfFloat::of(half ^ (negative ? 0x8000 : 0), x);
    }
    static KFDEMU_INLINE u32 to(V value, const Context& x) { return HalfFloat::to(clamped(value, x), x); }
};

template <class R>
const Inst* packed_halves(Wave& w, const Inst& i) {
    using E = Element<typename R::E>;
    constexpr bool has_c = R::C::dwords != 0;
    scalar_setup(w, i);
    use_mode<Kind::Packed>(w);
    Room<1> room_a, room_b, room_c, room_d;
    const u32* const a = source<typename R::A>(w, i, 0, room_a.lane);
    const u32* const b = source<typename R::B>(w, i, 1, room_b.lane);
    const u32* const c = has_c ? source<T_b32>(w, i, 2, room_c.lane) : a;
    const Context x = context(w, i);
    for (unsigned high = 0; high < 2; ++high) {
        const unsigned sa = chosen(i, 0, high) ? 16 : 0, sb = chosen(i, 1, high) ? 16 : 0,
                       sc = chosen(i, 2, high) ? 16 : 0;
        const bool na = negated(i, 0, high), nb = negated(i, 1, high), nc = negated(i, 2, high);
        KFDEMU_LANE_LOOP {
            typename E::V result{};
            R::meaning(result, E::of(a[lane] >> sa, na, x), E::of(b[lane] >> sb, nb, x), E::of(c[lane] >> sc, nc, x),
                       x);
            const u32 half = E::to(result, x);
            room_d.lane[lane] = high ? room_d.lane[lane] | half << 16 : half;
        }
    }
    merge(lanes_of(w, i.dst), room_d.lane, exec_of(w));
    return next_of(i);
}

/// Two 32-bit floats in a pair of registers. A scalar or constant source has the same 64 bits for every lane, and
/// OP_SEL picks dwords of them; an inline constant is its 32-bit value in the low dword.
KFDEMU_INLINE const u32* pair_source(Wave& w, const Inst& i, unsigned n, u32* room) {
    const Operand operand = i.src[n];
    if (operand >= kVgpr0) return lanes_of(w, operand);
    broadcast(room, w.s[operand]);
    broadcast(room + kLanes, operand < kConstants ? w.s[operand + 1] : 0);
    return room;
}

template <class R>
const Inst* packed_pairs(Wave& w, const Inst& i) {
    constexpr bool has_c = R::C::dwords != 0;
    scalar_setup(w, i);
    use_mode<Kind::Float32>(w);
    Room<2> room_a, room_b, room_c, room_d;
    const u32* const a = pair_source(w, i, 0, room_a.lane);
    const u32* const b = pair_source(w, i, 1, room_b.lane);
    const u32* const c = has_c ? pair_source(w, i, 2, room_c.lane) : a;
    const Context x = context(w, i);
    for (unsigned high = 0; high < 2; ++high) {
        const u32* const pa = a + (chosen(i, 0, high) ? kLanes : 0);
        const u32* const pb = b + (chosen(i, 1, high) ? kLanes : 0);
        const u32* const pc = c + (chosen(i, 2, high) ? kLanes : 0);
        const u32 na = negated(i, 0, high) ? 0x80000000u : 0, nb = negated(i, 1, high) ? 0x80000000u : 0;
        const u32 nc = negated(i, 2, high) ? 0x80000000u : 0;
        u32* const out = room_d.lane + high * kLanes;
        KFDEMU_LANE_LOOP {
            float result = 0;
            R::meaning(result, bits<float>(pa[lane] ^ na), bits<float>(pb[lane] ^ nb), bits<float>(pc[lane] ^ nc), x);
            out[lane] = bits<u32>(result);
        }
    }
    if (x.clamp) {
        KFDEMU_LANE_LOOP room_d.lane[lane] = bits<u32>(clamped(bits<float>(room_d.lane[lane]), x));
        KFDEMU_LANE_LOOP room_d.lane[lane + kLanes] = bits<u32>(clamped(bits<float>(room_d.lane[lane + kLanes]), x));
    }
    u32* const destination = lanes_of(w, i.dst);
    merge(destination, room_d.lane, exec_of(w));
    merge(destination + kLanes, room_d.lane + kLanes, exec_of(w));
    return next_of(i);
}

/// The two dwords of a plain source, as OP_SEL and OP_SEL_HI choose them.
struct PairSource {
    Chunks low, high;
    u32 turn_low, turn_high;  ///< sign bits to flip
};
KFDEMU_INLINE PairSource plain_pair_source(const Wave& w, const Inst& i, unsigned n, u32* room) {
    const Operand operand = i.src[n];
    Chunks pair{w.v + (operand - kVgpr0) * kLanes, kChunkLanes};
    if (operand < kVgpr0) {
        spread(room, w.s[operand]);
        spread(room + kLanes, operand < kConstants ? w.s[operand + 1] : 0);
        pair = {room, 0};
    }
    const auto half = [&](bool high) -> Chunks { return {pair.at + (chosen(i, n, high) ? kLanes : 0), pair.stride}; };
    const auto turn = [&](bool high) { return negated(i, n, high) ? 0x80000000u : 0; };
    return {half(false), half(true), turn(false), turn(true)};
}

/// The same if neither half is clamped and no result is NaN; Q is the quick variant.
template <class R, class Q>
const Inst* plain_pairs(Wave& w, const Inst& i) {
    constexpr bool has_c = R::C::dwords != 0;
    if (KFDEMU_UNLIKELY(i.clamp || !mode_is_on<Kind::Float32>(w))) return packed_pairs<R>(w, i);
    scalar_setup(w, i);
    Room<2> room_a, room_b, room_c, room_d;
    const PairSource a = plain_pair_source(w, i, 0, room_a.lane);
    const PairSource b = plain_pair_source(w, i, 1, room_b.lane);
    const PairSource c = has_c ? plain_pair_source(w, i, 2, room_c.lane) : a;
    const quick::Context x{context(w, i)};
    const auto compute = [&](Chunks from_a, Chunks from_b, Chunks from_c, u32 turn_a, u32 turn_b, u32 turn_c,
                             u32* results) KFDEMU_LAMBDA {
        each_chunk<true>([&](unsigned n) KFDEMU_LAMBDA {
            const u32 *const pa = from_a.chunk(n), *const pb = from_b.chunk(n), *const pc = from_c.chunk(n);
            KFDEMU_CHUNK_LOOP {
                float result = 0;
                Q::meaning(result, bits<float>(pa[lane] ^ turn_a), bits<float>(pb[lane] ^ turn_b),
                           bits<float>(pc[lane] ^ turn_c), x);
                results[n * kChunkLanes + lane] = bits<u32>(result);
            }
        });
    };
    compute(a.low, b.low, c.low, a.turn_low, b.turn_low, c.turn_low, room_d.lane);
    compute(a.high, b.high, c.high, a.turn_high, b.turn_high, c.turn_high, room_d.lane + kLanes);
    if (KFDEMU_UNLIKELY(any_nan(room_d.lane) || any_nan(room_d.lane + kLanes))) return packed_pairs<R>(w, i);
    u32* const destination = w.v + (i.dst - kVgpr0) * kLanes;
    commit(destination, room_d.lane, exec_of(w));
    commit(destination + kLanes, room_d.lane + kLanes, exec_of(w));
    return next_of(i);
}

/// V_PK_MOV_B32: the low dword is read from source 0, the high one from source 1; OP_SEL[n] picks the half of each
/// pair.
const Inst* move_pair(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    Room<2> room_a, room_b, room_d;
    const u32* const a = pair_source(w, i, 0, room_a.lane) + (chosen(i, 0, false) ? kLanes : 0);
    const u32* const b = pair_source(w, i, 1, room_b.lane) + (chosen(i, 1, false) ? kLanes : 0);
    KFDEMU_LANE_LOOP room_d.lane[lane] = a[lane];
    KFDEMU_LANE_LOOP room_d.lane[lane + kLanes] = b[lane];
    u32* const destination = lanes_of(w, i.dst);
    merge(destination, room_d.lane, exec_of(w));
    merge(destination + kLanes, room_d.lane + kLanes, exec_of(w));
    return next_of(i);
}

// Dot products: OP_SEL and OP_SEL_HI choose the halves of a and b for the two products, as in packed instructions. They
// have no effect on bytes and nibbles. NEG is for floats.

template <class T>
KFDEMU_INLINE u32 dot_operand(const Inst& i, unsigned n, u32 value, u32 turn) {
    if constexpr (!is_packed(T::kind)) return value;
    const u32 low = value >> (chosen(i, n, false) ? 16 : 0), high = value >> (chosen(i, n, true) ? 16 : 0);
    return ((low & 0xffff) | high << 16) ^ turn;
}
KFDEMU_INLINE u32 dot_signs(const Inst& i, unsigned n) {
    return (negated(i, n, false) ? 0x8000u : 0) | (negated(i, n, true) ? 0x80000000u : 0);
}

template <class R>
const Inst* dot_product(Wave& w, const Inst& i) {
    using A = typename R::A;
    using D = typename R::D;
    constexpr bool is_float = D::kind == Kind::Float32;
    scalar_setup(w, i);
    use_mode<D::kind>(w);
    Room<1> room_a, room_b, room_c, room_d;
    const u32* const a = source<T_b32>(w, i, 0, room_a.lane);
    const u32* const b = source<T_b32>(w, i, 1, room_b.lane);
    const u32* const c = source<T_b32>(w, i, 2, room_c.lane);
    const u32 turn_a = is_float ? dot_signs(i, 0) : 0, turn_b = is_float ? dot_signs(i, 1) : 0;
    const u32 turn_c = is_float && negated(i, 2, false) ? 0x80000000u : 0;
    // Of floats that are bytes, NEG_HI takes the addend's magnitude.
    const u32 keep_c = is_float && !is_packed(A::kind) && (i.abs & 4) != 0 ? 0x7fffffffu : ~0u;
    const Context x = context(w, i);
    KFDEMU_LANE_LOOP {
        typename D::V result{};
        R::meaning(result, dot_operand<A>(i, 0, a[lane], turn_a), dot_operand<A>(i, 1, b[lane], turn_b),
                   bits<typename D::V>((c[lane] & keep_c) ^ turn_c), x);
        if constexpr (is_float) result = clamped(result, x);
        room_d.lane[lane] = bits<u32>(result);
    }
    merge(lanes_of(w, i.dst), room_d.lane, active_lanes(w, i));
    return next_of(i);
}

// Mixed precision: OP_SEL_HI[n] makes source n 16 bits wide, OP_SEL[n] selects its half; NEG_HI is ABS here.

KFDEMU_INLINE float mix_mad(float a, float b, float c) { return mad(a, b, c); }
KFDEMU_INLINE float mix_fma(float a, float b, float c) { return fused(a, b, c); }

KFDEMU_INLINE const u32* mixed_source(Wave& w, const Inst& i, unsigned n, const Context& x, u32* room) {
    const u32* const lanes = source<T_b32>(w, i, n, room);
    const u32 keep = (i.abs >> n) & 1 ? 0x7fffffffu : ~0u, turn = (i.neg >> n) & 1 ? 0x80000000u : 0;
    const bool narrow = (i.op_sel_hi >> n) & 1;
    const unsigned shift = (i.op_sel >> n) & 1 ? 16 : 0;
    KFDEMU_LANE_LOOP {
        const u32 wide = bits<u32>(HalfFloat::of(lanes[lane] >> shift, x));
        room[lane] = ((narrow ? wide : lanes[lane]) & keep) ^ turn;
    }
    return room;
}

/// place: 0 a 32-bit result, 1 the low half, 2 the high half; the other half is kept.
template <float (*operation)(float, float, float), unsigned place>
const Inst* mixed(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    use_mode<Kind::Float32>(w);
    Room<1> room_a, room_b, room_c, room_d;
    const Context x = context(w, i);
    const u32* const a = mixed_source(w, i, 0, x, room_a.lane);
    const u32* const b = mixed_source(w, i, 1, x, room_b.lane);
    const u32* const c = mixed_source(w, i, 2, x, room_c.lane);
    u32* const destination = lanes_of(w, i.dst);
    KFDEMU_LANE_LOOP {
        const float result = clamped(operation(bits<float>(a[lane]), bits<float>(b[lane]), bits<float>(c[lane])), x);
        const u32 half = HalfFloat::to(result, x);
        const u32 old = destination[lane];
        room_d.lane[lane] = place == 0   ? bits<u32>(result)
                            : place == 1 ? (old & 0xffff0000) | half
                                         : (old & 0xffff) | half << 16;
    }
    merge(destination, room_d.lane, active_lanes(w, i));
    return next_of(i);
}

const Inst* read_accumulator(Wave& w, const Inst& i) {
    merge(lanes_of(w, i.dst), lanes_of(w, i.src[0]), exec_of(w));
    return next_of(i);
}
const Inst* write_accumulator(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    Room<1> room;
    const u32* const from = source<T_b32>(w, i, 0, room.lane);
    merge(lanes_of(w, i.dst), from, exec_of(w));
    return next_of(i);
}

#define KFDEMU_PACKED_ROW(name_, a_, b_, c_, e_, ...)                                                                \
    struct name_##_row {                                                                                             \
        using A = T_##a_;                                                                                            \
        using B = T_##b_;                                                                                            \
        using C = T_##c_;                                                                                            \
        using E = T_##e_;                                                                                            \
        using V = E::V;                                                                                              \
        static KFDEMU_INLINE void meaning(V& d, V a, V b, [[maybe_unused]] V c, [[maybe_unused]] const Context& x) { \
            __VA_ARGS__;                                                                                             \
        }                                                                                                            \
    };
#define VOP3P_HALVES(op, name, on, d_, a_, b_, c_, attributes, flow, code, e_, ...) \
    KFDEMU_PACKED_ROW(name, a_, b_, c_, e_, __VA_ARGS__)
#define VOP3P_PAIRS(op, name, on, d_, a_, b_, c_, attributes, flow, code, e_, ...) \
    KFDEMU_PACKED_ROW(name, b32, b32, c_, e_, __VA_ARGS__)
#define VOP3P_DOT(op, name_, on, d_, a_, b_, c_, attributes, flow, code, ...)                               \
    struct name_##_row {                                                                                    \
        using D = T_##d_;                                                                                   \
        using A = T_##a_;                                                                                   \
        static KFDEMU_INLINE void meaning(D::V& d, u32 a, u32 b, D::V c, const Context& x) { __VA_ARGS__; } \
    };
#define VOP3P_WAVE(...)
#define T_pkf32 T_b64
#include "tools/kfdemu/isa/rows/vop3p.inc"
#undef VOP3P_HALVES
#undef VOP3P_DOT
#define VOP3P_HALVES(...)
#define VOP3P_DOT(...)
namespace quick {
#include "tools/kfdemu/isa/rows/vop3p.inc"
}
#undef VOP3P_HALVES
#undef VOP3P_PAIRS
#undef VOP3P_DOT
#undef VOP3P_WAVE

}  // namespace

void fill_vop3p(Handler* general, Handler* plain) {
#define VOP3P_HALVES(op, name, ...) general[index(Op::name)] = &packed_halves<name##_row>;
#define VOP3P_PAIRS(op, name, ...)                        \
    general[index(Op::name)] = &packed_pairs<name##_row>; \
    plain[index(Op::name)] = &plain_pairs<name##_row, quick::name##_row>;
#define VOP3P_DOT(op, name, ...) general[index(Op::name)] = &dot_product<name##_row>;
#define VOP3P_WAVE(op, name, on, d, a, b, c, attributes, flow, code, ...) general[index(Op::name)] = &__VA_ARGS__;
#include "tools/kfdemu/isa/rows/vop3p.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
