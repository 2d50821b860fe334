// Execution of VOP1, and of the VOP3, SDWA and DPP forms of its rows.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"
#include "tools/kfdemu/isa/execution/small_float_math.hpp"
#include "tools/kfdemu/isa/execution/transcendental.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// fract in 16 bits: the result is below 1 by at least one 16-bit ulp.
KFDEMU_INLINE float fract_half(float v) {
    const float rest = v - __builtin_floorf(v);
    return nan_of(rest > 0x1.ffcp-1f ? 0x1.ffcp-1f : rest, v);
}
/// V_SAT_PK_U8_I16: two signed words to two unsigned bytes.
KFDEMU_INLINE u16 saturated_bytes(u32 v) {
    const i32 low = static_cast<i16>(v), high = static_cast<i32>(v) >> 16;
    const i32 a = low < 0 ? 0 : low > 255 ? 255 : low, b = high < 0 ? 0 : high > 255 ? 255 : high;
    return static_cast<u16>(a | b << 8);
}

/// The byte that V_CVT_F32_FP8 of GFX12 reads: OP_SEL's bits are in turned order.
KFDEMU_INLINE u32 turned(u32 op_sel) { return (op_sel & 1) << 1 | (op_sel >> 1 & 1); }

/// Reads the lowest active lane, or lane 0 if none is active.
const Inst* read_first_lane(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    const u64 exec = exec_of(w);
    const unsigned lane = exec ? static_cast<unsigned>(__builtin_ctzll(exec)) : 0;
    w.s[i.dst] = i.src[0] >= kVgpr0 ? lanes_of(w, i.src[0])[lane] : w.s[i.src[0]];
    return next_of(i);
}

const Inst* swap_registers(Wave& w, const Inst& i) {
    u32* const a = lanes_of(w, i.dst);
    u32* const b = lanes_of(w, i.src[0]);
    Room<1> old_a;
    KFDEMU_LANE_LOOP old_a.lane[lane] = a[lane];
    merge(a, b, exec_of(w));
    merge(b, old_a.lane, exec_of(w));
    return next_of(i);
}

/// Of DST and SRC0, which may be the halves of one register.
const Inst* swap_halves(Wave& w, const Inst& i) {
    u32* const a = lanes_of(w, i.dst);
    u32* const b = lanes_of(w, i.src[0]);
    const unsigned a_at = (i.op_sel & 8) != 0 ? 16 : 0, b_at = (i.op_sel & 1) != 0 ? 16 : 0;
    const u64 exec = exec_of(w);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((exec >> lane & 1) == 0) continue;
        const u32 changed = (a[lane] >> a_at ^ b[lane] >> b_at) & 0xffff;
        a[lane] ^= changed << a_at;
        b[lane] ^= changed << b_at;
    }
    return next_of(i);
}

/// Of each two rows of `size` lanes: the second of DST and the first of SRC0 change places, in lanes that are active.
/// OP_SEL are FI and BOUND_CTRL (LLVM); that they change what comes from lanes that are not is not documented.
template <unsigned size>
const Inst* swap_rows(Wave& w, const Inst& i) {
    u32* const a = lanes_of(w, i.dst);
    u32* const b = lanes_of(w, i.src[0]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((lane & size) != 0) continue;
        const u32 upper = a[lane + size], lower = b[lane];
        if ((exec_of(w) >> lane & 1) != 0) b[lane] = upper;
        if ((exec_of(w) >> (lane + size) & 1) != 0) a[lane + size] = lower;
    }
    return next_of(i);
}

/// V_PERMLANE64_B32: lanes 0-31 and 32-63 change places; nothing to do where there are 32 ("RDNA 3" ISA manual).
const Inst* exchange_halves(Wave& w, const Inst& i) {
    if constexpr (kLanes == 64) {
        const u32* const from = lanes_of(w, i.src[0]);
        Room<1> moved;
        KFDEMU_LANE_LOOP moved.lane[lane] = from[lane ^ 32];
        merge(lanes_of(w, i.dst), moved.lane, exec_of(w));
    }
    return next_of(i);
}

const Inst* move_accumulator(Wave& w, const Inst& i) {
    merge(lanes_of(w, i.dst), lanes_of(w, i.src[0]), exec_of(w));
    return next_of(i);
}

#define VOP1(op, name_, on, d_, a_, attributes_, flow, code, ...)                                      \
    struct name_##_row {                                                                               \
        using D = T_##d_;                                                                              \
        using A = T_##a_;                                                                              \
        using B = Nothing;                                                                             \
        using C = Nothing;                                                                             \
        static constexpr u64 attributes = attributes_;                                                 \
        static KFDEMU_INLINE void meaning(D::V& d, [[maybe_unused]] A::V a, u32, u32, bool&, unsigned, \
                                          [[maybe_unused]] const Context& x) {                         \
            __VA_ARGS__;                                                                               \
        }                                                                                              \
    };
#define VOP1_WAVE(...)
#include "tools/kfdemu/isa/rows/vop1.inc"
#undef VOP1
#undef VOP1_WAVE

// V_MOVREL: M0 is added to the numbers of VGPRs; what leaves the 256 of the encoding is illegal.

bool moves(Operand& vgpr, u32 distance) {
    if (vgpr < kVgpr0 || distance > 255 || vgpr + distance >= kVgpr0 + 256) return false;
    vgpr = static_cast<Operand>(vgpr + distance);
    return true;
}
const Inst* move_between(Wave& w, const Inst& i, u32 from, u32 to) {
    Inst moved = i;
    if ((from != 0 && !moves(moved.src[0], from)) || !moves(moved.dst, to)) return w.stop_at(Stop::Illegal, i);
    vector_op<v_mov_b32_row>(w, moved);
    return next_of(i);
}
template <bool source, bool destination>
const Inst* move_relative(Wave& w, const Inst& i) {
    return move_between(w, i, source ? w.s[kM0] : 0, destination ? w.s[kM0] : 0);
}
u32 source_distance(const Wave& w) { return w.s[kM0] & 0x3ff; }
u32 destination_distance(const Wave& w) { return w.s[kM0] >> 16 & 0x3ff; }
const Inst* move_by_halves(Wave& w, const Inst& i) {
    return move_between(w, i, source_distance(w), destination_distance(w));
}
const Inst* swap_relative(Wave& w, const Inst& i) {
    Inst moved = i;
    if (!moves(moved.src[0], source_distance(w)) || !moves(moved.dst, destination_distance(w)))
        return w.stop_at(Stop::Illegal, i);
    swap_registers(w, moved);
    return next_of(i);
}

}  // namespace

void fill_vop1(Handler* general, Handler* plain) {
#define VOP1(op, name, ...)                            \
    general[index(Op::name)] = &vector_op<name##_row>; \
    plain[index(Op::name)] = &plain_op<name##_row, name##_row>;
#define VOP1_WAVE(op, name, on, d, a, attributes, flow, code, ...) general[index(Op::name)] = &__VA_ARGS__;
#include "tools/kfdemu/isa/rows/vop1.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
