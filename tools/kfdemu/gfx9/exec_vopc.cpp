// Execution of VOPC, and of the VOP3 and SDWA forms of its rows.
#include "executors.hpp"
#include "float_math.hpp"
#include "lanes.hpp"

namespace kfdemu::gfx9::KFDEMU_LEVEL {
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

#define VOPC(op, name_, on, a_, b_, ...)                                                                               \
    struct name_##_row {                                                                                               \
        using A = Seen<T_##a_, T_##b_>::T;                                                                             \
        using B = T_##b_;                                                                                              \
        static KFDEMU_INLINE void meaning(bool& d, [[maybe_unused]] A::V a, [[maybe_unused]] B::V b, const Context&) { \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    };
#define VOPC_X VOPC
#include "vopc.inc"
#undef VOPC
#undef VOPC_X

}  // namespace

void fill_vopc(Handler* general, Handler* plain) {
#define ENTER(name, cmpx)                                         \
    general[index(Op::name)] = &vector_compare<name##_row, cmpx>; \
    plain[index(Op::name)] = &plain_compare<name##_row, cmpx>;
#define VOPC(op, name, ...) ENTER(name, false)
#define VOPC_X(op, name, ...) ENTER(name, true)
#include "vopc.inc"
}

}  // namespace kfdemu::gfx9::KFDEMU_LEVEL
