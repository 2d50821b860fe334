// Execution of VOP2, and of the VOP3, SDWA and DPP forms of its rows.
#include "tools/kfdemu/isa/execution/dot_math.hpp"
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE void add_with_carry(u32& d, bool& carry, u32 a, u32 b, const Context& x) {
    const u32 partial = a + b, sum = partial + (carry ? 1u : 0u);
    carry = either(partial < a, sum < partial);
    d = sum | (both(carry, x.clamp) ? ~0u : 0);
}
KFDEMU_INLINE void sub_with_borrow(u32& d, bool& carry, u32 a, u32 b, const Context& x) {
    const u32 partial = a - b, rest = partial - (carry ? 1u : 0u);
    carry = either((a < b), (rest > partial));
    d = rest & (both(carry, x.clamp) ? 0 : ~0u);
}
KFDEMU_INLINE u32 packed_fused(u32 a, u32 b, u32 c, const Context& x) {
    u32 result = 0;
    for (unsigned half = 0; half < 32; half += 16) {
        const float fa = HalfFloat::of(a >> half, x);
        const float fb = HalfFloat::of(b >> half, x);
        const float fc = HalfFloat::of(c >> half, x);
        result |= HalfFloat::flushed(half_bits(fused_half(fa, fb, fc, x)), x.flush_half_out) << half;
    }
    return result;
}

#define VOP2(op, name_, on, d_, a_, b_, attributes_, ...) \
    VOP2_K(op, name_, on, d_, a_, b_, none, attributes_, __VA_ARGS__)
#define VOP2_K(op, name_, on, d_, a_, b_, c_, attributes_, flow, code, ...)                                            \
    struct name_##_row {                                                                                               \
        using D = T_##d_;                                                                                              \
        using A = T_##a_;                                                                                              \
        using B = T_##b_;                                                                                              \
        using C = T_##c_;                                                                                              \
        static constexpr u64 attributes = attributes_;                                                                 \
        static KFDEMU_INLINE void meaning(D::V& d, A::V a, B::V b, [[maybe_unused]] C::V c,                            \
                                          [[maybe_unused]] bool& carry, unsigned, [[maybe_unused]] const Context& x) { \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    };
#include "tools/kfdemu/isa/rows/vop2.inc"
namespace quick {
#include "tools/kfdemu/isa/rows/vop2.inc"
}
#undef VOP2
#undef VOP2_K

}  // namespace

void fill_vop2(Handler* general, Handler* plain) {
#define VOP2(op, name, ...)                            \
    general[index(Op::name)] = &vector_op<name##_row>; \
    plain[index(Op::name)] = &plain_op<name##_row, quick::name##_row>;
#define VOP2_K VOP2
#include "tools/kfdemu/isa/rows/vop2.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
