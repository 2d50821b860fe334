// Execution of VOPC, and of the VOP3 and SDWA forms of its rows.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/float_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// V_CMP_CLASS distinguishes denormals from zero regardless of MODE.
template <class A, class B>
struct Seen {
    using T = A;
};
template <>
struct Seen<T_f16, T_b32> {
    using T = HalfBits;
};
template <>
struct Seen<T_f16, T_b16> {
    using T = HalfBits;
};

#define VOPC(op, name_, on, a_, b_, attributes, flow, code, ...)                                                       \
    struct name_##_row {                                                                                               \
        using A = Seen<T_##a_, T_##b_>::T;                                                                             \
        using B = T_##b_;                                                                                              \
        static KFDEMU_INLINE void meaning(bool& d, [[maybe_unused]] A::V a, [[maybe_unused]] B::V b, const Context&) { \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    };
#define VOPC_X(...)
#include "tools/kfdemu/isa/rows/vopc.inc"
#undef VOPC
#undef VOPC_X

/// V_CMPX: what V_CMP does, and its mask becomes EXEC.
template <Handler compare>
const Inst* compare_x(Wave& w, const Inst& i) {
    const Inst* const next = compare(w, i);
    set_mask(w, kExec, mask_of(w, i.sdst));
    return next;
}

}  // namespace

void fill_vopc(Handler* general, Handler* plain) {
#define VOPC(op, name, ...)                                 \
    general[index(Op::name)] = &vector_compare<name##_row>; \
    plain[index(Op::name)] = &plain_compare<name##_row>;
#define VOPC_X(op, name, same, ...)                                     \
    general[index(Op::name)] = &compare_x<&vector_compare<same##_row>>; \
    plain[index(Op::name)] = &compare_x<&plain_compare<same##_row>>;
#include "tools/kfdemu/isa/rows/vopc.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
