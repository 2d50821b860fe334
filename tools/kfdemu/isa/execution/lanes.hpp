// Execution of vector instructions: operands become pointers to the lanes, a loop computes all lanes, and EXEC selects
// which results are kept. A row contributes a class with operand types and the meaning of one lane.
//
// Compiled for each executor, in its namespace; internal to its translation unit.
#pragma once

#include <immintrin.h>

#include <type_traits>

#include "tools/kfdemu/isa/execution/exec.hpp"
#include "tools/kfdemu/isa/execution/modifiers.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE void use_mxcsr(Wave& w, u32 wanted) {
    if (!KFDEMU_UNLIKELY(w.mxcsr_now != wanted)) return;
    w.mxcsr_now = wanted;
    asm volatile("ldmxcsr %0" : : "m"(w.mxcsr_now) : "memory");
}

/// The MXCSR value for a row; its attributes may override MODE.
template <Kind kind, u64 attributes>
KFDEMU_INLINE u32 mxcsr_for(const Wave& w) {
    constexpr u32 nearest = ~0x6000u, flush_all = 0x9fc0;
    if constexpr ((attributes & kFlushesSingles) != 0) return flush_all;
    if constexpr (kind == Kind::Int32 || kind == Kind::Int16 || kind == Kind::Int64) {
        return w.mxcsr_now;
    } else {
        const u32 by_mode = kind == Kind::Float32 ? w.mxcsr_f32 : w.mxcsr_f64;
        return (attributes & kNearest) != 0 ? by_mode & nearest : by_mode;
    }
}
/// Sets the rounding and denormal modes for a type; costs one compare if they are set already.
template <Kind kind, u64 attributes = 0>
KFDEMU_INLINE void use_mode(Wave& w) {
    use_mxcsr(w, mxcsr_for<kind, attributes>(w));
}
/// Whether the modes are set already.
template <Kind kind, u64 attributes = 0>
KFDEMU_INLINE bool mode_is_on(const Wave& w) {
    return w.mxcsr_now == mxcsr_for<kind, attributes>(w);
}
template <u64 attributes>
KFDEMU_INLINE Context context_unless(const Wave& w, const Inst& i) {
    Context x = context(w, i);
    if constexpr ((attributes & (kNearest | kFlushesSingles)) != 0) {
        x.round_f32 = 0;
        x.round_f64 &= 4;
    }
    return x;
}

/// The type of a row that selects the floating-point mode: the first float, except for V_CVT_F64_F32, which is exact
/// and whose 32-bit source may be a denormal.
template <class... Types>
constexpr Kind mode_kind() {
    constexpr Kind kinds[] = {Types::kind...};
    if (kinds[0] == Kind::Float64 && kinds[1] == Kind::Float32) return Kind::Float32;
    Kind result = Kind::Int32;
    for (const Kind kind : {Types::kind...}) {
        const bool is_float =
            kind == Kind::Float32 || kind == Kind::Float16 || kind == Kind::Float64 || is_packed(kind);
        if (is_float && result == Kind::Int32) result = kind;
    }
    return result;
}

/// Element n of those that are packed, without gaps, in the registers of one lane, of which `lane` is the first.
KFDEMU_INLINE u32 packed_element(const u32* lane, unsigned n, unsigned width) {
    const unsigned at = n * width;
    const u64 low = lane[at / 32 * kLanes];
    const bool crosses = at % 32 + width > 32;
    const u64 two = crosses ? low | u64{lane[(at / 32 + 1) * kLanes]} << 32 : low;
    return static_cast<u32>(two >> at % 32 & ((u64{1} << width) - 1));
}

/// Broadcasts a scalar or constant source to every lane of `room`.
[[gnu::noinline, maybe_unused]] const u32* broadcast_source(Wave& w, const Inst& i, unsigned n, unsigned dwords,
                                                            Literal literal, u32* room) {
    const Operand operand = i.src[n];
    if (dwords == 2) {
        const u64 value = read64(w, operand, literal);
        broadcast(room, static_cast<u32>(value));
        broadcast(room + kLanes, static_cast<u32>(value >> 32));
        return room;
    }
    for (unsigned dword = 0; dword < dwords; ++dword) broadcast(room + dword * kLanes, w.s[operand + dword]);
    return room;
}

/// The lanes of source n; copied to `room` unless they are an unmodified VGPR.
template <class T>
KFDEMU_INLINE const u32* source(Wave& w, const Inst& i, unsigned n, u32* room) {
    if constexpr (T::dwords == 0) return nullptr;
    const Operand operand = i.src[n];
    const u32* const lanes = operand >= kVgpr0 ? w.v + (operand - kVgpr0) * kLanes
                                               : broadcast_source(w, i, n, T::dwords, literal_of<T>, room);
    if (KFDEMU_UNLIKELY(i.flags & kPrepare)) return prepare(w, i, n, T::kind, T::dwords, lanes, room);
    return lanes;
}

/// Moves a result from temporary storage to its register: output modifiers, then the active lanes.
[[gnu::noinline, maybe_unused]] void land(Wave& w, const Inst& i, Kind kind, unsigned dwords, u32* result, u64 active) {
    if (KFDEMU_UNLIKELY(i.flags & kFinish)) finish(w, i, kind, dwords, result);
    u32* const destination = lanes_of(w, i.dst);
    for (unsigned dword = 0; dword < dwords; ++dword) {
        merge(destination + dword * kLanes, result + dword * kLanes, active);
    }
}

/// The lanes that the instruction may write.
KFDEMU_INLINE u64 active_lanes(const Wave& w, const Inst& i) {
    const u64 exec = exec_of(w);
    return KFDEMU_UNLIKELY(i.moves_lanes()) ? exec & dpp_write_mask(w, i) : exec;
}

template <unsigned dwords>
struct alignas(64) Room {
    u32 lane[(dwords ? dwords : 1) * kLanes];
};

/// Whether a sum of 16 bits is in the upper half of its register.
template <class R>
KFDEMU_INLINE bool reads_upper_half(const Inst& i) {
    constexpr bool is_half = R::D::kind == Kind::Int16 || R::D::kind == Kind::Float16;
    return (R::attributes & kReadsDst) != 0 && is_half && (i.op_sel & 8) != 0;
}
KFDEMU_INLINE const u32* shifted_down(const u32* lanes, u32* room) {
    KFDEMU_LANE_LOOP room[lane] = lanes[lane] >> 16;
    return room;
}

/// VOP1, VOP2, VOP3, VOP3P: R::meaning(d, a, b, c, carry, lane, context).
template <class R>
const Inst* vector_op(Wave& w, const Inst& i) {
    using D = typename R::D;
    using A = typename R::A;
    using B = typename R::B;
    using C = typename R::C;
    constexpr bool carry_in = (R::attributes & (kCarryIn | kVccIn)) != 0;
    constexpr bool carry_out = (R::attributes & kCarryOut) != 0;
    scalar_setup(w, i);
    use_mode<mode_kind<D, A, B, C>(), R::attributes>(w);
    Room<A::dwords> room_a;
    Room<B::dwords> room_b;
    Room<C::dwords> room_c;
    Room<D::dwords> room_d;
    Room<carry_in || carry_out> carries;
    const u32* const a = source<A>(w, i, 0, room_a.lane);
    const u32* const b = source<B>(w, i, 1, room_b.lane);
    const u32* const c = source<C>(w, i, 2, room_c.lane);
    if constexpr (carry_in) {
        expand_mask(read_mask(w, (R::attributes & kVccIn) ? Operand{kVcc} : i.src[2]), carries.lane);
    }

    const u64 active = active_lanes(w, i);
    u32* const destination = lanes_of(w, i.dst);
    const bool direct = active == kAllLanes && !(i.flags & kFinish);
    u32* const d = direct ? destination : room_d.lane;
    Room<1> old_half;
    const u32* const old = reads_upper_half<R>(i) ? shifted_down(destination, old_half.lane) : destination;
    const Context x = context_unless<R::attributes>(w, i);
    KFDEMU_LANE_LOOP {
        typename D::V result{};
        if constexpr ((R::attributes & kReadsDst) != 0) result = D::load(old, lane, x);
        bool carry = false;
        if constexpr (carry_in) carry = carries.lane[lane] != 0;
        R::meaning(result, A::load(a, lane, x), B::load(b, lane, x), C::load(c, lane, x), carry, lane, x);
        if constexpr (carry_out) carries.lane[lane] = carry ? ~0u : 0;
        D::store(d, lane, result, x);
    }
    if constexpr (carry_out) set_mask(w, i.sdst, pack_mask(carries.lane) & active);
    if (!direct) land(w, i, D::kind, D::dwords, d, active);
    return next_of(i);
}

/// VOPC: R::meaning(d, a, b, context) sets d to the lane's bit.
template <class R>
const Inst* vector_compare(Wave& w, const Inst& i) {
    using A = typename R::A;
    using B = typename R::B;
    scalar_setup(w, i);
    use_mode<mode_kind<A, B>()>(w);
    Room<A::dwords> room_a;
    Room<B::dwords> room_b;
    Room<1> flags;
    const u32* const a = source<A>(w, i, 0, room_a.lane);
    const u32* const b = source<B>(w, i, 1, room_b.lane);
    const Context x = context(w, i);
    KFDEMU_LANE_LOOP {
        bool result = false;
        R::meaning(result, A::load(a, lane, x), B::load(b, lane, x), x);
        flags.lane[lane] = result ? ~0u : 0;
    }
    const u64 mask = pack_mask(flags.lane) & active_lanes(w, i);
    set_mask(w, i.sdst, mask);
    return next_of(i);
}

// The same without modifiers, SDWA and DPP, nearly all of what compilers emit. Lanes are processed in chunks, so a
// scalar is broadcast to one chunk only; the NaN check is done once for all results instead of per operand.

inline constexpr unsigned kChunkLanes = 16;
/// Calls chunk(n) for each chunk. Unrolled, results stay in CPU registers until the NaN check; for rows with many CPU
/// instructions per lane, unrolling only adds code.
template <bool unrolled, class Chunk>
KFDEMU_INLINE void each_chunk(Chunk&& chunk) {
    if constexpr (unrolled) {
        KFDEMU_UNROLLED for (unsigned n = 0; n < kLanes / kChunkLanes; ++n) chunk(n);
    } else {
        for (unsigned n = 0; n < kLanes / kChunkLanes; ++n) chunk(n);
    }
}
template <class... Types>
constexpr bool is_simple = ((Types::kind == Kind::Int32 || Types::kind == Kind::Int64 || Types::kind == Kind::Float32 ||
                             Types::kind == Kind::Float64) &&
                            ...);
#define KFDEMU_CHUNK_LOOP KFDEMU_LANES(kChunkLanes)

/// The address of a source's chunks, `stride` dwords apart. The second dword of a 64-bit lane is kLanes after its
/// first.
struct Chunks {
    const u32* at;
    unsigned stride;

    KFDEMU_INLINE const u32* chunk(unsigned n) const { return at + n * stride; }
};
KFDEMU_INLINE void spread(u32* room, u32 value) { KFDEMU_CHUNK_LOOP room[lane] = value; }

/// Source n; a scalar is broadcast to `room`. The high dword of a 64-bit constant is not in Wave::s: `at` is nullptr.
template <class T>
KFDEMU_INLINE Chunks plain_source(const Wave& w, const Inst& i, unsigned n, u32* room) {
    if constexpr (T::dwords == 0) return {room, 0};
    const Operand operand = i.src[n];
    if (operand >= kVgpr0) return {w.v + (operand - kVgpr0) * kLanes, kChunkLanes};
    if (T::dwords == 2 && operand >= kConstants) return {nullptr, 0};
    for (unsigned dword = 0; dword < T::dwords; ++dword) spread(room + dword * kLanes, w.s[operand + dword]);
    return {room, 0};
}

template <class T>
KFDEMU_INLINE bool lacks(const Chunks& source) {
    return T::dwords == 2 && KFDEMU_UNLIKELY(source.at == nullptr);
}

/// Whether any lane's float is NaN.
KFDEMU_INLINE bool any_nan(const u32* lanes) {
#if defined(__AVX512F__)
    const auto either_is = [=](unsigned a, unsigned b) {
        return _mm512_cmp_ps_mask(_mm512_loadu_ps(lanes + a), _mm512_loadu_ps(lanes + b), _CMP_UNORD_Q);
    };
    if constexpr (kLanes == 64)
        return !_kortestz_mask16_u8(either_is(0, 16), either_is(32, 48));
    else
        return either_is(0, 16) != 0;
#else
    u32 bits = 0;
    KFDEMU_LANE_LOOP bits |= (lanes[lane] & 0x7fffffff) > 0x7f800000 ? ~0u : 0;
    return bits != 0;
#endif
}
/// Whether any lane's double may be NaN; `high` are their upper dwords. Also true for infinity.
KFDEMU_INLINE bool any_huge(const u32* high) {
    u32 bits = 0;
    KFDEMU_LANE_LOOP bits |= (high[lane] & 0x7fffffff) >= 0x7ff00000 ? ~0u : 0;
    return bits != 0;
}
template <Kind kind>
KFDEMU_INLINE bool may_have_nan(const u32* lanes) {
    if constexpr (kind == Kind::Float32) return any_nan(lanes);
    if constexpr (kind == Kind::Float64) return any_huge(lanes + kLanes);
    return false;
}

/// Runs the quick variant Q, or R instead if a result may be NaN; Q is R if there is no quick variant.
template <class R, class Q>
const Inst* plain_op(Wave& w, const Inst& i) {
    using D = typename R::D;
    using A = typename R::A;
    using B = typename R::B;
    using C = typename R::C;
    constexpr bool carry_in = (R::attributes & (kCarryIn | kVccIn)) != 0;
    constexpr bool carry_out = (R::attributes & kCarryOut) != 0;
    constexpr bool is_quick = !std::is_same_v<R, Q>;
    constexpr bool checks_nan = is_quick && (D::kind == Kind::Float32 || D::kind == Kind::Float64);
    using Meaning = std::conditional_t<checks_nan, Q, R>;
    if (KFDEMU_UNLIKELY((!mode_is_on<mode_kind<D, A, B, C>(), R::attributes>(w)))) return vector_op<R>(w, i);
    scalar_setup(w, i);
    Room<A::dwords> room_a;
    Room<B::dwords> room_b;
    Room<C::dwords> room_c;
    Room<D::dwords> room_d;
    Room<carry_in || carry_out> carries;
    const Chunks a = plain_source<A>(w, i, 0, room_a.lane);
    const Chunks b = plain_source<B>(w, i, 1, room_b.lane);
    const Chunks c = plain_source<C>(w, i, 2, room_c.lane);
    if (lacks<A>(a) || lacks<B>(b) || lacks<C>(c)) return vector_op<R>(w, i);
    if constexpr (carry_in) {
        const Operand mask = (R::attributes & kVccIn) ? Operand{kVcc} : i.src[2];
        if (KFDEMU_UNLIKELY(mask >= kConstants)) return vector_op<R>(w, i);
        expand_mask(mask_of(w, mask), carries.lane);
    }
    const u64 exec = exec_of(w);
    u32* const destination = w.v + (i.dst - kVgpr0) * kLanes;
    const bool direct = !checks_nan && exec == kAllLanes;
    u32* const results = direct ? destination : room_d.lane;
    const quick::Context x{context_unless<R::attributes>(w, i)};
    each_chunk<is_simple<D, A, B, C> && (is_quick || D::kind == Kind::Int32)>([&](unsigned n) KFDEMU_LAMBDA {
        const u32 *const from_a = a.chunk(n), *const from_b = b.chunk(n), *const from_c = c.chunk(n);
        const u32* const old = destination + n * kChunkLanes;
        u32* const carry_lanes = carries.lane + (carry_in || carry_out ? n * kChunkLanes : 0);
        KFDEMU_CHUNK_LOOP {
            typename D::V result{};
            if constexpr ((R::attributes & kReadsDst) != 0) result = D::load(old, lane, x);
            bool carry = false;
            if constexpr (carry_in) carry = carry_lanes[lane] != 0;
            Meaning::meaning(result, A::load(from_a, lane, x), B::load(from_b, lane, x), C::load(from_c, lane, x),
                             carry, n * kChunkLanes + lane, x);
            if constexpr (carry_out) carry_lanes[lane] = carry ? ~0u : 0;
            D::store(results + n * kChunkLanes, lane, result, x);
        }
    });
    if (checks_nan && KFDEMU_UNLIKELY(may_have_nan<D::kind>(room_d.lane))) return vector_op<R>(w, i);
    if constexpr (carry_out) set_mask(w, i.sdst, pack_mask(carries.lane) & exec);
    if (direct) return next_of(i);
    for (unsigned dword = 0; dword < D::dwords; ++dword)
        commit(destination + dword * kLanes, room_d.lane + dword * kLanes, exec);
    return next_of(i);
}

template <class R>
const Inst* plain_compare(Wave& w, const Inst& i) {
    using A = typename R::A;
    using B = typename R::B;
    if (KFDEMU_UNLIKELY((!mode_is_on<mode_kind<A, B>()>(w)))) return vector_compare<R>(w, i);
    scalar_setup(w, i);
    Room<A::dwords> room_a;
    Room<B::dwords> room_b;
    Room<1> flags;
    const Chunks a = plain_source<A>(w, i, 0, room_a.lane);
    const Chunks b = plain_source<B>(w, i, 1, room_b.lane);
    if (lacks<A>(a) || lacks<B>(b)) return vector_compare<R>(w, i);
    const Context x = context(w, i);
    each_chunk<is_simple<A, B>>([&](unsigned n) KFDEMU_LAMBDA {
        const u32 *const from_a = a.chunk(n), *const from_b = b.chunk(n);
        KFDEMU_CHUNK_LOOP {
            bool result = false;
            R::meaning(result, A::load(from_a, lane, x), B::load(from_b, lane, x), x);
            flags.lane[n * kChunkLanes + lane] = result ? ~0u : 0;
        }
    });
    const u64 mask = pack_mask(flags.lane) & exec_of(w);
    set_mask(w, i.sdst, mask);
    return next_of(i);
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
