// Execution of VOPC, and of the VOP3 and SDWA forms of its rows.
#include <string_view>

#include "executors.hpp"
#include "float_math.hpp"
#include "lanes.hpp"

namespace kfdemu::isa::KFDEMU_LEVEL {
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

/// The row of an opcode without X, which the row with X shares.
template <unsigned opcode>
struct Compare;
constexpr unsigned without_x(unsigned opcode) { return opcode < 0x20 ? opcode - 1 : opcode - 0x10; }

#define VOPC(op, name, on, a_, b_, ...)                                                                                \
    template <>                                                                                                        \
    struct Compare<op> {                                                                                               \
        using A = Seen<T_##a_, T_##b_>::T;                                                                             \
        using B = T_##b_;                                                                                              \
        static constexpr std::string_view text = #a_ " " #b_ " " #__VA_ARGS__;                                         \
        static KFDEMU_INLINE void meaning(bool& d, [[maybe_unused]] A::V a, [[maybe_unused]] B::V b, const Context&) { \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    };
#define VOPC_X(...)
#include "../rows/vopc.inc"
#undef VOPC
#undef VOPC_X

/// V_CMPX: what V_CMP does, and its mask becomes EXEC.
template <Handler compare>
const Inst* compare_x(Wave& w, const Inst& i) {
    const Inst* const next = compare(w, i);
    w.set_s64(kExec, w.s64(i.sdst));
    return next;
}

}  // namespace

void fill_vopc(Handler* general, Handler* plain) {
#define VOPC(op, name, ...)                                  \
    general[index(Op::name)] = &vector_compare<Compare<op>>; \
    plain[index(Op::name)] = &plain_compare<Compare<op>>;
#define VOPC_X(op, name, on, a, b, ...)                                             \
    static_assert(Compare<without_x(op)>::text == #a " " #b " " #__VA_ARGS__);      \
    general[index(Op::name)] = &compare_x<&vector_compare<Compare<without_x(op)>>>; \
    plain[index(Op::name)] = &compare_x<&plain_compare<Compare<without_x(op)>>>;
#include "../rows/vopc.inc"
}

}  // namespace kfdemu::isa::KFDEMU_LEVEL
