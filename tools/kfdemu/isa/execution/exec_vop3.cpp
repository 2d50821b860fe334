// Execution of instructions with only a VOP3 encoding.
#include "tools/kfdemu/isa/execution/dot_math.hpp"
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"
#include "tools/kfdemu/isa/execution/small_float_math.hpp"
#include "tools/kfdemu/isa/execution/transcendental.hpp"
#include "tools/kfdemu/isa/execution/wide_conversions.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

// Cube maps ("Vega" ISA manual, V_CUBEID_F32): the major axis is the largest in magnitude, z before y before x.
struct CubeAxes {
    bool z, y;
};
KFDEMU_INLINE CubeAxes cube_axes(float x, float y, float z) {
    const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
    const bool is_z = az >= ax && az >= ay;
    return {is_z, !is_z && ay >= ax};
}
KFDEMU_INLINE float cube_face(float x, float y, float z) {
    const CubeAxes axes = cube_axes(x, y, z);
    return axes.z ? (z < 0 ? 5.0f : 4.0f) : axes.y ? (y < 0 ? 3.0f : 2.0f) : x < 0 ? 1.0f : 0.0f;
}
KFDEMU_INLINE float cube_s(float x, float y, float z) {
    const CubeAxes axes = cube_axes(x, y, z);
    return axes.z ? (z < 0 ? -x : x) : axes.y ? x : x < 0 ? z : -z;
}
KFDEMU_INLINE float cube_t(float x, float y, float z) {
    const CubeAxes axes = cube_axes(x, y, z);
    return axes.z ? -y : axes.y ? (y < 0 ? -z : z) : -y;
}
KFDEMU_INLINE float cube_major(float x, float y, float z) {
    const CubeAxes axes = cube_axes(x, y, z);
    return 2.0f * (axes.z ? z : axes.y ? y : x);
}

/// 2/pi, starting at the first bit after the binary point; the manual's table has 1201 bits.
constexpr u64 kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                              0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                              0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                              0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                              0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000, 0};

/// V_TRIG_PREOP_F64: the n-th group of 53 bits of 2/pi, without the leading bits that contribute only whole turns at
/// the argument's exponent. For large arguments the result is scaled up, so that it stays normal. Rounds towards zero
/// ("Vega" ISA manual).
KFDEMU_INLINE double two_over_pi_segment(double argument, u32 n) {
    const u32 exponent = static_cast<u32>(raw_exponent(argument));
    const u32 shift = (n & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    if (shift > 1200) return 0;
    const u32 word = shift / 64, rest = shift % 64;
    const u64 top = rest == 0 ? kTwoOverPi[word] : kTwoOverPi[word] << rest | kTwoOverPi[word + 1] >> (64 - rest);
    const u64 segment = top >> 11;
    const i32 scale = -53 - static_cast<i32>(shift) + (exponent >= 1968 ? 128 : 0);
    const double whole = static_cast<double>(segment);
    if (segment == 0) return 0;
    if (raw_exponent(whole) + scale > 0) return bits<double>(bits<u64>(whole) + (static_cast<u64>(i64{scale}) << 52));
    const i32 up = scale + 1074;  // denormals are multiples of 2^-1074
    return bits<double>(up >= 0 ? segment << up : up > -64 ? segment >> -up : 0);
}

/// V_CVT_PK_U8_F32: converts a float to a byte and inserts it as byte n of c. Rounds as MODE says.
KFDEMU_INLINE u32 insert_byte(float v, u32 n, u32 c, const Context& x) {
    const float down = __builtin_floorf(v), up = __builtin_ceilf(v);
    const float whole = x.round_f32 == 0 ? nearest_even(v) : x.round_f32 == 1 ? up : x.round_f32 == 2 ? down : trunc(v);
    const u32 wide = to_u32(whole);
    const u32 byte = wide > 255 ? 255 : wide;
    const u32 shift = 8 * (n & 3);
    return (c & ~(0xffu << shift)) | byte << shift;
}

KFDEMU_INLINE void multiply_add(u64& d, bool& carry, u32 a, u32 b, u64 c, bool clamp) {
    const u64 sum = static_cast<u64>(a) * b + c;
    carry = sum < c;
    d = clamp && carry ? ~u64{0} : sum;
}
KFDEMU_INLINE void multiply_add(i64& d, bool& carry, i32 a, i32 b, i64 c, bool clamp) {
    const i64 product = static_cast<i64>(a) * b;
    const i64 sum = static_cast<i64>(static_cast<u64>(product) + static_cast<u64>(c));
    const bool overflow = ((product ^ sum) & (c ^ sum)) < 0;
    carry = (sum < 0) != overflow;  // the 65th bit of the sum
    d = clamp && overflow ? (c < 0 ? bits<i64>(u64{1} << 63) : bits<i64>(~(u64{1} << 63))) : sum;
}

/// V_MULLIT_F32 ("RDNA 2" ISA manual): for specular light; below 0, and of NaN, the least float.
KFDEMU_INLINE float lit_product(float a, float b, float c) {
    constexpr float least = -0x1.fffffep127f;
    const bool dark = either(b == least, b == -__builtin_inff(), is_nan(b)) || either(c <= 0, is_nan(c));
    return dark ? least : mul_legacy(a, b);
}

/// A lane number: modulo the width, from an SGPR, M0 or a constant.
KFDEMU_INLINE unsigned lane_number(const Wave& w, const Inst& i) { return w.s[i.src[1]] % kLanes; }

/// Ignores EXEC.
const Inst* read_lane(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    w.s[i.dst] = i.src[0] >= kVgpr0 ? lanes_of(w, i.src[0])[lane_number(w, i)] : w.s[i.src[0]];
    return next_of(i);
}
const Inst* write_lane(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    lanes_of(w, i.dst)[lane_number(w, i)] = w.s[i.src[0]];
    return next_of(i);
}

/// V_PERMLANE16_B32, V_PERMLANEX16_B32 ("RDNA 2" ISA manual): in each row of 16 lanes, lane n reads lane
/// {SRC2, SRC1}[4n + 3:4n] of the same row, or of the one beside it. OP_SEL: FI, BOUND_CTRL.
template <unsigned beside>
const Inst* permute_rows(Wave& w, const Inst& i) {
    scalar_setup(w, i);
    const u64 numbers = w.s[i.src[1]] | u64{w.s[i.src[2]]} << 32, exec = exec_of(w);
    const bool fetches_inactive = (i.op_sel & 1) != 0, zero = (i.op_sel & 2) != 0;
    const u32* const source = lanes_of(w, i.src[0]);
    Room<1> moved;
    u64 written = exec;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const unsigned from = ((lane & ~15u) ^ beside) | static_cast<unsigned>(numbers >> (4 * (lane & 15)) & 15);
        const bool there = fetches_inactive || (exec >> from & 1) != 0;
        moved.lane[lane] = there ? source[from] : 0;
        if (!there && !zero) written &= ~(u64{1} << lane);
    }
    merge(lanes_of(w, i.dst), moved.lane, written);
    return next_of(i);
}

/// V_PERMLANE16_VAR_B32, V_PERMLANEX16_VAR_B32 ("RDNA 4" ISA manual): likewise, by the low bits of the lane's SRC1.
template <unsigned beside>
const Inst* permute_rows_by_lane(Wave& w, const Inst& i) {
    const u64 exec = exec_of(w);
    const bool fetches_inactive = (i.op_sel & 1) != 0, zero = (i.op_sel & 2) != 0;
    const u32 *const source = lanes_of(w, i.src[0]), *const number = lanes_of(w, i.src[1]);
    Room<1> moved;
    u64 written = exec;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const unsigned from = ((lane & ~15u) ^ beside) | (number[lane] & 15);
        const bool there = fetches_inactive || (exec >> from & 1) != 0;
        moved.lane[lane] = there ? source[from] : 0;
        if (!there && !zero) written &= ~(u64{1} << lane);
    }
    merge(lanes_of(w, i.dst), moved.lane, written);
    return next_of(i);
}

// V_S_EXP_F32 and similar ("RDNA 4" ISA manual, "Pseudo-scalar"): of an SGPR, as VOP1's of a lane.

#define KFDEMU_SCALAR_FUNCTION(name, type, attributes_, ...) \
    struct name {                                            \
        using T = T_##type;                                  \
        static constexpr u64 attributes = attributes_;       \
        static T::V of(T::V a) { return __VA_ARGS__; }       \
    };
KFDEMU_SCALAR_FUNCTION(exp_of_f32, f32, kFlushesSingles, exp2(a))
KFDEMU_SCALAR_FUNCTION(log_of_f32, f32, kFlushesSingles, log2(a))
KFDEMU_SCALAR_FUNCTION(rcp_of_f32, f32, kFlushesSingles, reciprocal(a))
KFDEMU_SCALAR_FUNCTION(rsq_of_f32, f32, kFlushesSingles, reciprocal_root(a))
KFDEMU_SCALAR_FUNCTION(sqrt_of_f32, f32, kFlushesSingles, square_root(a))
KFDEMU_SCALAR_FUNCTION(exp_of_f16, f16, kNearest, exp2(a))
KFDEMU_SCALAR_FUNCTION(log_of_f16, f16, kNearest, log2(a))
KFDEMU_SCALAR_FUNCTION(rcp_of_f16, f16, kNearest, reciprocal(a))
KFDEMU_SCALAR_FUNCTION(rsq_of_f16, f16, kNearest, reciprocal_root(a))
KFDEMU_SCALAR_FUNCTION(sqrt_of_f16, f16, kNearest, square_root(a))
#undef KFDEMU_SCALAR_FUNCTION

/// EXEC is ignored; of 16 bits, the upper half becomes 0.
template <class Function>
const Inst* scalar_result(Wave& w, const Inst& i) {
    using T = typename Function::T;
    constexpr u32 sign = T::kind == Kind::Float16 ? 0x8000 : 0x80000000;
    scalar_setup(w, i);
    use_mode<T::kind, Function::attributes>(w);
    const Context x = context_unless<Function::attributes>(w, i);
    const u32 magnitude = w.s[i.src[0]] & ((i.abs & 1) != 0 ? ~sign : ~0u);
    const u32 source = magnitude ^ ((i.neg & 1) != 0 ? sign : 0);
    u32 result = 0;
    T::store(&result, 0, Function::of(T::load(&source, 0, x)), x);
    const typename T::V value = T::load(&result, 0, x);
    if (i.omod != 0 || i.clamp)
        T::store(&result, 0, output_modified<T>(value, effective_omod(w, i, T::kind), i.clamp, x.dx10), x);
    w.s[i.dst] = result;
    return next_of(i);
}

#define VOP3(op, name_, on, d_, a_, b_, c_, attributes_, flow, code, ...)                               \
    struct name_##_row {                                                                                \
        using D = T_##d_;                                                                               \
        using A = T_##a_;                                                                               \
        using B = T_##b_;                                                                               \
        using C = T_##c_;                                                                               \
        static constexpr u64 attributes = attributes_;                                                  \
        static KFDEMU_INLINE void meaning(D::V& d, A::V a, B::V b, [[maybe_unused]] C::V c,             \
                                          [[maybe_unused]] bool& carry, [[maybe_unused]] unsigned lane, \
                                          [[maybe_unused]] const Context& x) {                          \
            __VA_ARGS__;                                                                                \
        }                                                                                               \
    };
#define VOP3_WAVE(...)
#include "tools/kfdemu/isa/rows/vop3.inc"
namespace quick {
#include "tools/kfdemu/isa/rows/vop3.inc"
}
#undef VOP3
#undef VOP3_WAVE

}  // namespace

void fill_vop3(Handler* general, Handler* plain) {
#define VOP3(op, name, ...)                            \
    general[index(Op::name)] = &vector_op<name##_row>; \
    plain[index(Op::name)] = &plain_op<name##_row, quick::name##_row>;
#define VOP3_WAVE(op, name, on, d, a, b, c, attributes, flow, code, ...) general[index(Op::name)] = &__VA_ARGS__;
#include "tools/kfdemu/isa/rows/vop3.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
